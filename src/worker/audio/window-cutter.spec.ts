import { describe, expect, it } from '@jest/globals';
import { type AudioWindow, cutIntoWindows } from './window-cutter.js';

const RATE = 16_000;
const RULES: Parameters<typeof cutIntoWindows>[1] = { maxS: 10, silenceS: 0.3, quietShare: 0.03 };

const seconds = (count: number, level: number): Int16Array =>
  Int16Array.from({ length: Math.round(count * RATE) }, (_, at) => (at % 2 === 0 ? level : -level));
const speech = (count: number) => seconds(count, 8000);
const pause = (count: number) => seconds(count, 30);

/** In pieces whose borders have nothing to do with windows. */
async function* inPieces(audio: readonly Int16Array[]): AsyncGenerator<Int16Array> {
  for (const part of audio) {
    for (let at = 0; at < part.length; at += 7001)
      yield await Promise.resolve(part.subarray(at, at + 7001));
  }
}

async function cut(audio: readonly Int16Array[], rules = RULES): Promise<AudioWindow[]> {
  const windows: AudioWindow[] = [];
  for await (const window of cutIntoWindows(inPieces(audio), rules)) windows.push(window);
  return windows;
}

const times = (windows: readonly AudioWindow[]) =>
  windows.map(({ startS, durationS }) => [startS, durationS]);

describe('cutIntoWindows', () => {
  it('leaves audio whole that fits into one window, to the sample', async () => {
    expect(times(await cut([speech(10)]))).toEqual([[0, 10]]);
    expect(times(await cut([speech(10), seconds(1 / RATE, 1)]))).toHaveLength(2);
    expect(await cut([])).toEqual([]);
  });

  it('cuts in the middle of the last 0.3 s of silence in the second half of a window', async () => {
    const windows = await cut([speech(6), pause(0.5), speech(1.5), pause(0.6), speech(6)]);
    expect(times(windows)).toEqual([
      [0, 8.45],
      [8.45, 6.15],
    ]);
    expect(windows.every(window => window.sharedAfterS === 0 && window.sharedBeforeS === 0)).toBe(
      true,
    );
  });

  it('covers everything: windows joined without their overlaps are the audio', async () => {
    const audio = [speech(13), pause(1), speech(25), pause(0.2), speech(8)];
    const windows = await cut(audio);
    const joined = windows.flatMap(({ samples, sharedBeforeS }) => [
      ...samples.subarray(sharedBeforeS * RATE),
    ]);
    expect(Buffer.compare(Buffer.from(joined), Buffer.from(audio.flatMap(part => [...part])))).toBe(
      0,
    );
    expect(windows.map(({ index }) => index)).toEqual(windows.map((_, at) => at));
  });

  it('overlaps by 2 s where there is no silence', async () => {
    const windows = await cut([speech(17)]);
    expect(times(windows)).toEqual([
      [0, 10],
      [8, 9],
    ]);
    expect(windows.map(({ sharedBeforeS, sharedAfterS }) => [sharedBeforeS, sharedAfterS])).toEqual(
      [
        [0, 2],
        [2, 0],
      ],
    );
  });

  it('ignores a pause shorter than the requested one, and gives the requested padding to what follows', async () => {
    const audio = [speech(8), pause(0.5), speech(8)];
    expect(times(await cut(audio, { ...RULES, silenceS: 0.6 }))[1]).toEqual([8, 8.5]);
    expect(times(await cut(audio, { ...RULES, silenceS: 0.4, paddingS: 0.1 }))[1]?.[0]).toBeCloseTo(
      8.4,
    );
  });

  it('cuts digital silence anywhere: it ends at the limit without overlap', async () => {
    expect((await cut([seconds(25, 0)])).every(({ sharedAfterS }) => sharedAfterS === 0)).toBe(
      true,
    );
  });
});
