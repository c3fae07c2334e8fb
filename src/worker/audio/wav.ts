import { RECOGNISER_RATE } from '@switchyard/engine-api/audio/pcm.js';

interface Format {
  readonly coding: number;
  readonly channels: number;
  readonly sampleRate: number;
  readonly bitsPerSample: number;
}

const PCM = 1;
const EXTENSIBLE = 0xfffe;
const UNKNOWN_LENGTH = 0xffffffff;

/**
 * The samples' bytes of a WAV file that a recogniser can take as it is (PCM s16le, mono,
 * 16 kHz), or undefined: then it is ffmpeg's turn. Chunks may come in any order, and a
 * length that exceeds the file is clipped to it.
 */
export function canonicalWavData(file: Buffer): Buffer | undefined {
  if (ascii(file, 0) !== 'RIFF' || ascii(file, 8) !== 'WAVE') return undefined;
  let format: Format | undefined;
  let data: Buffer | undefined;
  for (const chunk of chunksOf(file)) {
    if (chunk.id === 'fmt ') format ??= formatOf(chunk.body);
    if (chunk.id === 'data') data ??= chunk.body;
  }
  return format && isCanonical(format) ? data : undefined;
}

function* chunksOf(file: Buffer): Generator<{ id: string; body: Buffer }> {
  let at = 12;
  while (at + 8 <= file.length) {
    const id = ascii(file, at);
    const start = at + 8;
    const end = Math.min(file.length, start + declaredLength(file, id, at));
    yield { id, body: file.subarray(start, end) };
    at = end + ((end - start) % 2);
  }
}

/**
 * Writers that stream leave 0 as the length of the data and never come back: then it goes
 * on to the end of the file.
 */
function declaredLength(file: Buffer, id: string, at: number): number {
  const length = file.readUInt32LE(at + 4);
  return id === 'data' && length === 0 && !isChunkAt(file, at + 8)
    ? UNKNOWN_LENGTH
    : length;
}

const isChunkAt = (file: Buffer, at: number): boolean =>
  at + 8 <= file.length &&
  /^[A-Za-z0-9 ]{4}$/.test(ascii(file, at)) &&
  at + 8 + file.readUInt32LE(at + 4) <= file.length;

function formatOf(body: Buffer): Format | undefined {
  if (body.length < 16) return undefined;
  const coding = body.readUInt16LE(0);
  // An extensible format names the real coding in the first two bytes of
  // its sub-format id.
  const real =
    coding === EXTENSIBLE && body.length >= 26 ? body.readUInt16LE(24) : coding;
  return {
    coding: real,
    channels: body.readUInt16LE(2),
    sampleRate: body.readUInt32LE(4),
    bitsPerSample: body.readUInt16LE(14),
  };
}

const isCanonical = ({ coding, channels, sampleRate, bitsPerSample }: Format): boolean =>
  coding === PCM &&
  channels === 1 &&
  sampleRate === RECOGNISER_RATE &&
  bitsPerSample === 16;

const ascii = (file: Buffer, at: number): string => file.toString('latin1', at, at + 4);
