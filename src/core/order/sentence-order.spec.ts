import { describe, expect, it } from '@jest/globals';
import { Playback } from './playback.js';
import { nextSentence } from './sentence-order.js';

/** Sentences of one answer; the first `made` of them are made, each 1 s long. */
function answer(name: string, count: number, { madeAtMs = [] as number[], deviceMs = 100 } = {}) {
  const playback = new Playback();
  for (const atMs of madeAtMs) playback.made(1000, atMs);
  return Array.from({ length: count }, (_, at) => ({
    ...{ name: `${name}${at + madeAtMs.length}`, playback, deviceMs, audioMs: 1000 },
  }));
}
const file = (name: string) => ({ name, playback: undefined, deviceMs: 100, audioMs: 1000 });

describe('nextSentence', () => {
  it('takes the first sentence of everybody before the second of anybody, in the order of arrival', () => {
    const waiting = [...answer('a', 2, { madeAtMs: [0] }), ...answer('b', 2), ...answer('c', 2)];
    expect(nextSentence(waiting, 0)?.name).toBe('b0');
  });

  it('then takes the sentence at which playback arrives first', () => {
    const waiting = [
      ...answer('a', 2, { madeAtMs: [0, 500] }),
      ...answer('b', 2, { madeAtMs: [600] }),
    ];
    expect(nextSentence(waiting, 700)?.name).toBe('b1');
  });

  it('takes answers that nobody hears last', () => {
    const heard = answer('a', 1, { madeAtMs: [0] });
    expect(nextSentence([file('f'), ...heard], 0)?.name).toBe('a1');
    expect(nextSentence([file('f'), file('g')], 0)?.name).toBe('f');
  });

  it('lets an answer wait whose first sentence would make another one pause', () => {
    const playing = answer('a', 2, { madeAtMs: [0], deviceMs: 300 });
    const fresh = answer('b', 1, { deviceMs: 600 });
    expect(nextSentence([...playing, ...fresh], 100)?.name).toBe('a1');
    expect(nextSentence([...playing, ...answer('b', 1, { deviceMs: 300 })], 100)?.name).toBe('b0');
  });

  it('lets an answer wait whose own playback could not be kept beside the others', () => {
    const playing = answer('a', 6, { madeAtMs: [0], deviceMs: 500 });
    const slow = answer('b', 6, { deviceMs: 500 });
    expect(nextSentence([...playing, ...slow], 0)?.name).toBe('a1');
  });

  it('takes one that is too slow to be heard without a pause when nothing plays', () => {
    expect(nextSentence(answer('a', 3, { deviceMs: 2000 }), 0)?.name).toBe('a0');
  });

  it('has nothing to take when nothing waits', () => {
    expect(nextSentence([], 0)).toBeUndefined();
  });
});

describe('Playback', () => {
  it('counts how long its listener waited, and goes on from there', () => {
    const playback = new Playback();
    playback.made(1000, 500);
    playback.made(1000, 1400);
    expect(playback).toMatchObject({ playedAtMs: 2500, lateMs: 0 });
    playback.made(1000, 2700);
    expect(playback).toMatchObject({ playedAtMs: 3700, lateMs: 200 });
  });
});
