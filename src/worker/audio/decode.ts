import { type Readable } from 'node:stream';
import { DomainError } from '../../core/shared/domain-error.js';
import { abortError } from '../execution/work-item.js';
import { boundedText } from './bounded-text.js';
import { startFfmpeg, type FfmpegEnd } from './ffmpeg-process.js';
import { bytesOf, RECOGNISER_RATE, samplesOf } from './pcm.js';
import { openUpload } from './upload-file.js';
import { canonicalWavData } from './wav.js';

/** Longest audio of one file. 25 MB of the thinnest opus hold about this much; decoded it takes 460 MB. */
const MAX_AUDIO_S = 4 * 3600;

/** Containers that may be opened. A play list would make ffmpeg read other files of this machine. */
const CONTAINERS =
  'wav,w64,aiff,au,caf,mp3,aac,flac,ogg,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,asf,amr,mpeg,mpegts,ac3,avi';

const UPLOAD = '/dev/fd/3';

const DECODE_ARGS = [
  ...['-threads', '1', '-protocol_whitelist', 'file', '-format_whitelist', CONTAINERS, '-i', UPLOAD],
  ...['-map', '0:a:0', '-vn', '-sn', '-dn', '-ac', '1', '-ar', String(RECOGNISER_RATE)],
  ...['-t', String(MAX_AUDIO_S + 1), '-f', 's16le', 'pipe:1'],
];

export interface DecodedAudio {
  /** Mono, 16 kHz. */
  readonly samples: Int16Array;
  readonly durationS: number;
}

/**
 * An uploaded file as mono PCM at 16 kHz, whatever its container.
 *
 * @throws DomainError `empty_file`, `audio_too_short` (no samples), `invalid_audio` (with ffmpeg's reason in one line),
 *   `engine_failed` (no ffmpeg), or the abort's own error, by then with ffmpeg gone.
 */
export async function decodeAudio(file: Buffer, signal: AbortSignal): Promise<DecodedAudio> {
  if (file.length === 0) throw new DomainError('empty_file', 'The file has 0 bytes.', { param: 'file' });
  const data = canonicalWavData(file);
  const samples = data ? samplesOf(data) : await decodeWithFfmpeg(file, signal);
  if (samples.length === 0) throw rejected('audio_too_short', 'The audio holds no samples.');
  const durationS = samples.length / RECOGNISER_RATE;
  if (durationS > MAX_AUDIO_S) throw rejected('invalid_audio', `The audio is longer than ${MAX_AUDIO_S / 3600} hours.`);
  return { samples, durationS };
}

async function decodeWithFfmpeg(file: Buffer, signal: AbortSignal): Promise<Int16Array> {
  const upload = await openUpload(file);
  try {
    const { child, ended } = startFfmpeg(DECODE_ARGS, ['ignore', 'pipe', 'pipe', upload.fd], signal);
    const chunks = collect(child.stdout!);
    const complaint = boundedText(child.stderr!);
    const end = await ended;
    if (signal.aborted) throw abortError(signal);
    const samples = joined(chunks);
    assertDecoded(end, samples, complaint());
    return samples;
  } finally {
    await upload.close();
  }
}

function collect(stream: Readable): readonly Buffer[] {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return chunks;
}

function joined(chunks: readonly Buffer[]): Int16Array {
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const samples = new Int16Array(bytes >> 1);
  const target = bytesOf(samples);
  let at = 0;
  for (const chunk of chunks) at += chunk.copy(target, at);
  return samples;
}

/** A file that ends early is taken as far as it goes; no samples are an error whatever the exit code (ENGINES "ffmpeg"). */
function assertDecoded(end: FfmpegEnd, samples: Int16Array, complaint: string): void {
  if (!end.started) throw end.error;
  if (end.exitCode === 0 && samples.length > 0) return;
  const reason = reasonIn(complaint);
  if (end.exitCode === 0 && reason === '') return;
  throw rejected('invalid_audio', `The file cannot be decoded as audio: ${reason || 'ffmpeg gave no reason'}.`);
}

/** The first thing that ffmpeg complained about, without its names of places: `[mov,mp4 @ 0x55…]`, `/dev/fd/3:`. */
function reasonIn(complaint: string): string {
  const [line = ''] = complaint.split('\n').filter(text => text.trim() !== '');
  return line
    .replace(/^\[[^\]]*\]\s*/, '')
    .replace(`${UPLOAD}: `, '')
    .replace(/[.\s]+$/, '')
    .slice(0, 200);
}

const rejected = (code: 'invalid_audio' | 'audio_too_short', message: string): DomainError =>
  new DomainError(code, message, { param: 'file' });
