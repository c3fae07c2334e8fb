import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { framesOf, LogMelExtractor, writeWindow } from './log-mel.js';

const REFERENCE = new URL('../../../../test/fixtures/whisper/mel-reference.json', import.meta.url);
const reference = JSON.parse(readFileSync(REFERENCE, 'utf8')) as {
  samples: number;
  mels: Record<string, { frames: number; values: number[][] }>;
};

/** The same integers as in make_mel_reference.py. */
function chirp(count: number): Int16Array {
  return Int16Array.from({ length: count }, (_, n) => {
    const phase = (Math.floor((n * n) / 16) + 37 * n) % 65_536;
    const loudness = 1 + (Math.floor(n / 800) % 16);
    return Math.floor(((Math.abs(phase - 32_768) - 16_384) * loudness) / 17);
  });
}

function features(samples: Int16Array, mels: number, windowFrames: number): Float32Array {
  const frames = framesOf(samples.length);
  const values = new Float32Array(mels * frames);
  new LogMelExtractor(mels).extract(samples, values, () => false);
  const window = new Float32Array(mels * windowFrames);
  writeWindow({ mels, frames, contentFrames: Math.floor(samples.length / 160), values }, 0, windowFrames, window);
  return window;
}

describe('LogMelExtractor', () => {
  it.each([80, 128])('gives the features of the public extractor within 2e-4, at %i mels', mels => {
    const { frames, values } = reference.mels[String(mels)]!;
    const window = features(chirp(reference.samples), mels, frames);
    let worst = 0;
    values.forEach((row, i) =>
      row.forEach((value, k) => {
        worst = Math.max(worst, Math.abs(window[i * 7 * frames + k * 13]! - value));
      }),
    );
    expect(worst).toBeLessThan(2e-4);
  });

  it('gives the same value everywhere in silence, and for no samples at all', () => {
    for (const samples of [new Int16Array(8000), new Int16Array(0)]) {
      expect(new Set(features(samples, 80, 100))).toEqual(new Set([-1.5]));
    }
  });

  it('stops at a cancel, which is looked at every 1000 frames', () => {
    const looks: number[] = [];
    const values = new Float32Array(80 * framesOf(480_000));
    const done = new LogMelExtractor(80).extract(new Int16Array(480_000), values, () => looks.push(1) === 2);
    expect([done, looks.length]).toEqual([false, 2]);
  });
});
