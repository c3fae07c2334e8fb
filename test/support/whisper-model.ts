import { fileURLToPath } from 'node:url';
import { WhisperOnnxRecognizer } from '../../src/worker/engines/whisper-onnx/recognizer.js';
import { type WhisperCounters } from '../../src/worker/engines/whisper-onnx/protocol.js';
import { ENGINE_DEVICE } from './engine-device.js';
import { type WhisperOnnxOptions } from '../../src/worker/engines/whisper-onnx/options.js';

/** Generated models (test/fixtures/whisper/README.md): `random` has 2 s windows and 64 positions. */
export function whisperFolder(name: 'random' | 'random-plain' | 'spoken'): string {
  return fileURLToPath(new URL(`../fixtures/whisper/${name}`, import.meta.url));
}

export function whisperEngine(changes: Partial<WhisperOnnxOptions> = {}): WhisperOnnxRecognizer {
  return new WhisperOnnxRecognizer({
    ...{ modelDir: whisperFolder('random'), device: ENGINE_DEVICE, maxBatch: 8, maxConcurrent: 2, memoryMb: 0 },
    ...{ dtype: { encoder: 'fp32', decoder: 'fp32' }, threads: 1, melThreads: 1, conditionOnPreviousText: true },
    ...changes,
  });
}

/** Noise with a rhythm of its own: the same seed gives the same samples. */
export function rhythm(seconds: number, seed: number): Int16Array {
  let state = seed;
  return Int16Array.from({ length: Math.round(seconds * 16_000) }, (_, i) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state / 0x7fffffff - 0.5) * 8000 * Math.abs(Math.sin((i * seed) / 3000));
  });
}

/** Ten minutes, which these models need longer for than a test may last; only a second of it is computed. */
export function endlessRhythm(seed: number): Int16Array {
  const second = rhythm(1, seed);
  const all = new Int16Array(600 * second.length);
  for (let at = 0; at < all.length; at += second.length) all.set(second, at);
  return all;
}

/** What the sessions ran between two readings. */
export function difference(after: WhisperCounters, before: WhisperCounters): WhisperCounters {
  const changed: Record<keyof WhisperCounters, number> = { ...after };
  for (const name of Object.keys(after) as (keyof WhisperCounters)[]) changed[name] = after[name] - before[name];
  return changed;
}
