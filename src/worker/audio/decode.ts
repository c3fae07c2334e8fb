import { type FileHandle } from 'node:fs/promises';
import { RECOGNISER_RATE, samplesOf } from '@switchyard/engine-api/audio/pcm.js';
import { wavChunks } from '../../contracts/formats/wav-chunks.js';
import { abortError } from '../../core/errors/abort-error.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { startFfmpeg } from './ffmpeg-process.js';
import { MIX_FILTERS, MixDown } from './mix-down.js';
import { openUnnamed } from './received-file.js';

const PCM = 1;

const EXTENSIBLE = 0xfffe;

/**
 * The samples' bytes of a WAV file that a recogniser can take as it is (PCM s16le, mono,
 * 16 kHz), or undefined: then it is ffmpeg's turn. Chunks may come in any order, and a
 * length that exceeds the file is clipped to it.
 */
export function canonicalWavData(file: Buffer): Buffer | undefined {
  let isCanonical: boolean | undefined;
  let data: Buffer | undefined;
  for (const { id, start, length } of wavChunks(file)) {
    const body = file.subarray(start, start + length);
    if (id === 'fmt ') isCanonical ??= isCanonicalFormat(body);
    if (id !== 'data') continue;
    // Which of several counts is for ffmpeg to say.
    if (data) return undefined;
    data = body;
  }
  return isCanonical ? data : undefined;
}

/** Undefined while `body` is too short to decide. */
function isCanonicalFormat(body: Buffer): boolean | undefined {
  if (body.length < 16) return undefined;
  const coding = body.readUInt16LE(0);
  // An extensible format names the real coding in the first two bytes of
  // its sub-format id.
  const real = coding === EXTENSIBLE && body.length >= 26 ? body.readUInt16LE(24) : coding;
  const [channels, bitsPerSample] = [body.readUInt16LE(2), body.readUInt16LE(14)];
  const sampleRate = body.readUInt32LE(4);
  return real === PCM && channels === 1 && sampleRate === RECOGNISER_RATE && bitsPerSample === 16;
}

/** Longest audio of one file. 25 MB of the thinnest opus hold about this much. */
export const MAX_AUDIO_S = 4 * 3600;

/**
 * Silence in flac, the thinnest of all, has 27 bytes a second; a header that makes more
 * of a file than this is lying.
 */
const LEAST_BYTES_PER_S = 20;

/** A short file is mostly headers. */
const SLACK_S = 60;

/** Seconds that a file of so many bytes may hold, whatever it says of itself. */
const longestOf = (bytes: number): number =>
  Math.min(MAX_AUDIO_S, SLACK_S + bytes / LEAST_BYTES_PER_S);

/**
 * Containers that may be opened. A play list would make ffmpeg read other files
 * of this machine.
 */
const CONTAINERS =
  'wav,w64,aiff,au,caf,mp3,aac,flac,ogg,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2,asf,amr,mpeg,mpegts,ac3,avi';

const UPLOAD = '/dev/fd/3';

const decodeArgs = (longestS: number): string =>
  `-threads 1 -protocol_whitelist file -format_whitelist ${CONTAINERS} -i ${UPLOAD} ` +
  `-vn -sn -dn -af ${MIX_FILTERS} -ar ${RECOGNISER_RATE} -t ${longestS + 1} -f s16le pipe:1`;

/**
 * An open file as mono PCM at 16 kHz, piece by piece as they are asked for: ffmpeg waits
 * in its pipe meanwhile. Leaving early ends ffmpeg.
 *
 * @param bytes of the file, which bound its length whatever its headers say
 * @param mostS seconds that the caller has a use for; at the first sample beyond either,
 *   ffmpeg is ended
 * @throws DomainError `audio_too_short` (no samples), `invalid_audio` (with ffmpeg's
 *   reason in one line, or longer),
 *   `engine_failed` (no ffmpeg), or the abort's own error, by then with ffmpeg gone.
 */
export async function* decodedStream(
  file: FileHandle,
  signal: AbortSignal,
  bytes: number,
  mostS = MAX_AUDIO_S,
): AsyncGenerator<Int16Array> {
  const longestS = Math.min(mostS, longestOf(bytes));
  const left = new AbortController();
  const { child, ended, complaint } = startFfmpeg(
    decodeArgs(longestS),
    ['ignore', 'pipe', 'pipe', file.fd],
    AbortSignal.any([signal, left.signal]),
  );
  const mix = new MixDown();
  let samples = 0;
  const counted = (piece: Int16Array): Int16Array => {
    samples += piece.length;
    if (samples > longestS * RECOGNISER_RATE) throw tooLong(longestS);
    return piece;
  };
  try {
    for await (const part of child.stdout! as AsyncIterable<Buffer>) yield counted(mix.take(part));
    yield counted(mix.end());
  } finally {
    // Harmless when ffmpeg has ended by itself: the pipe is read to its end then.
    if (child.stdout?.readableEnded !== true) left.abort();
    await ended;
  }
  if (signal.aborted) throw abortError(signal);
  assertDecoded(await ended, samples, complaint());
}

const tooLong = (longestS: number): DomainError =>
  longestS >= MAX_AUDIO_S
    ? rejected('invalid_audio', `The audio is longer than ${MAX_AUDIO_S / 3600} hours.`)
    : rejected(
        'invalid_audio',
        `The audio is longer than ${Math.floor(longestS)} s, the most that a file of this size can hold.`,
      );

const tooShort = (): DomainError => rejected('audio_too_short', 'The audio holds no samples.');

/**
 * A file that ends early is taken as far as it goes; no samples are an error whatever the
 * exit code (ENGINES "ffmpeg").
 */
function assertDecoded(end: number | null | DomainError, samples: number, complaint: string): void {
  if (end instanceof DomainError) throw end;
  if (end === 0 && samples > 0) return;
  const reason = reasonIn(complaint);
  if (end === 0 && reason === '') throw tooShort();
  throw rejected(
    'invalid_audio',
    `The file cannot be decoded as audio: ${reason || 'ffmpeg gave no reason'}.`,
  );
}

/**
 * The first thing that ffmpeg complained about, without its names of places: `[mov,mp4 @
 * 0x55…]`, `/dev/fd/3:`.
 */
function reasonIn(complaint: string): string {
  const [line = ''] = complaint.split('\n').filter(text => text.trim() !== '');
  return line
    .replace(/^\[[^\]]*\]\s*/, '')
    .replace(`${UPLOAD}: `, '')
    .replace(/[.\s]+$/, '')
    .slice(0, 200);
}

export const emptyFile = (): DomainError => rejected('empty_file', 'The file has 0 bytes.');

const rejected = (
  code: 'invalid_audio' | 'audio_too_short' | 'empty_file',
  message: string,
): DomainError => new DomainError(code, message, { param: 'file' });

/**
 * A whole file as mono PCM at 16 kHz, whatever its container: for short audio, and for
 * engines that need all of it at once.
 *
 * @param mostS what the caller has a use for; the size of the file may allow less
 * @throws DomainError `empty_file`, and as `decodedStream` does.
 */
export async function decodeAudio(file: Buffer, signal: AbortSignal, mostS: number = MAX_AUDIO_S) {
  if (file.length === 0) throw emptyFile();
  const data = canonicalWavData(file);
  const samples = data ? samplesOf(data) : await decodeWithFfmpeg(file, signal, mostS);
  if (samples.length === 0) throw tooShort();
  const durationS = samples.length / RECOGNISER_RATE;
  if (durationS > mostS) throw tooLong(mostS);
  return { samples, durationS };
}

async function decodeWithFfmpeg(
  file: Buffer,
  signal: AbortSignal,
  mostS: number,
): Promise<Int16Array> {
  await using upload = await openUnnamed();
  await upload.writeFile(file);
  return joined(await Array.fromAsync(decodedStream(upload, signal, file.length, mostS)));
}

function joined(pieces: readonly Int16Array[]): Int16Array {
  const samples = new Int16Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    samples.set(piece, at);
    at += piece.length;
  }
  return samples;
}
