import { DomainError } from '../../core/shared/domain-error.js';
import { decodedStream, longestOf, MAX_AUDIO_S, tooLong, tooShort } from './decoded-stream.js';
import { RECOGNISER_RATE, samplesOf } from './pcm.js';
import { openUpload } from './upload-file.js';
import { canonicalWavData } from './wav.js';

interface DecodedAudio {
  /** Mono, 16 kHz. */
  readonly samples: Int16Array;
  readonly durationS: number;
}

/**
 * A whole file as mono PCM at 16 kHz, whatever its container: for short audio, and for engines that need all of it at once.
 *
 * @param mostS what the caller has a use for; the size of the file may allow less
 * @throws DomainError `empty_file`, and as `decodedStream` does.
 */
export async function decodeAudio(
  file: Buffer,
  signal: AbortSignal,
  mostS: number = MAX_AUDIO_S,
): Promise<DecodedAudio> {
  if (file.length === 0) throw new DomainError('empty_file', 'The file has 0 bytes.', { param: 'file' });
  const data = canonicalWavData(file);
  const samples = data
    ? samplesOf(data)
    : await decodeWithFfmpeg(file, signal, Math.min(mostS, longestOf(file.length)));
  if (samples.length === 0) throw tooShort();
  const durationS = samples.length / RECOGNISER_RATE;
  if (durationS > mostS) throw tooLong(mostS);
  return { samples, durationS };
}

async function decodeWithFfmpeg(file: Buffer, signal: AbortSignal, longestS: number): Promise<Int16Array> {
  const upload = await openUpload(file);
  try {
    const pieces: Int16Array[] = [];
    for await (const piece of decodedStream(upload, signal, longestS)) pieces.push(piece);
    return joined(pieces);
  } finally {
    await upload.close();
  }
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
