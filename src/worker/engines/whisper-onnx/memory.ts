import { totalmem } from 'node:os';
import { type WhisperOnnxOptions } from './options.js';

/** What a model takes at most, in bytes. While rows change their batch, the caches of that batch exist twice. */
export interface WhisperMemory {
  readonly weightsBytes: number;
  /** Keys and values of one window's audio. */
  readonly audioBytes: number;
  /** Keys and values of the longest text of one window. */
  readonly textBytes: number;
  readonly totalBytes: number;
}

interface Parts {
  readonly config: Shape;
  readonly weightsBytes: number;
  /** Bytes of one number in the cache. */
  readonly cacheBytes: number;
}

interface Shape {
  readonly decoderLayers: number;
  readonly width: number;
  readonly windowFrames: number;
  readonly positions: number;
}

const MB = 1e6;
/** Mel frames per encoder position. */
const FRAMES = 2;
const KEYS_AND_VALUES = 2;

function memoryOf({ config, weightsBytes, cacheBytes }: Parts, rows: number): WhisperMemory {
  const { decoderLayers, width, windowFrames, positions } = config;
  const perPosition = KEYS_AND_VALUES * decoderLayers * width * cacheBytes;
  const [audioBytes, textBytes] = [perPosition * (windowFrames / FRAMES), perPosition * positions];
  return { weightsBytes, audioBytes, textBytes, totalBytes: weightsBytes + rows * (audioBytes + textBytes) };
}

type Limits = Pick<WhisperOnnxOptions, 'maxBatch' | 'memoryMb' | 'device'>;

/** @throws Error with what is needed, the limit, and how many rows would fit */
export function demandMemory(parts: Parts, { maxBatch, memoryMb, device }: Limits): WhisperMemory {
  const memory = memoryOf(parts, maxBatch);
  const limitBytes = memoryMb > 0 ? memoryMb * MB : device === 'cpu' ? machineBytes() : Infinity;
  if (memory.totalBytes <= limitBytes) return memory;
  const rowBytes = memory.audioBytes + memory.textBytes;
  const rows = Math.floor((limitBytes - memory.weightsBytes) / rowBytes);
  const repair = rows > 0 ? `set maxBatch to at most ${rows}, or take` : 'take';
  const limit = memoryMb > 0 ? `options.memoryMb allows ${memoryMb} MB` : `this machine has ${inMb(limitBytes)} MB`;
  throw new Error(`${describeMemory(memory, maxBatch)}, but ${limit}: ${repair} a smaller model or dtype.`);
}

/** One line, such as `needs 445 MB: weights 253 MB, 8 rows of 18 MB for the audio and up to 6 MB for the text`. */
export function describeMemory(
  { weightsBytes, audioBytes, textBytes, totalBytes }: WhisperMemory,
  rows: number,
): string {
  const row = `${inMb(audioBytes)} MB for the audio and up to ${inMb(textBytes)} MB for the text`;
  return `needs ${inMb(totalBytes)} MB: weights ${inMb(weightsBytes)} MB, ${rows} rows of ${row}`;
}

const inMb = (bytes: number): number => (bytes < 10 * MB ? Math.ceil(bytes / MB) : Math.round(bytes / MB));

/** A container's limit, or the whole machine. */
function machineBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}
