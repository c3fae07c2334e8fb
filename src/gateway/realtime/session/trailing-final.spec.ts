import { describe, expect, it } from '@jest/globals';
import { TrailingFinal } from './trailing-final.js';

const final = (utterance: number, text = '') =>
  ({
    type: 'final',
    utterance,
    text,
    start: utterance,
    end: utterance + 1,
    words: [],
  }) as const;

describe('the last final of a stream that is being closed', () => {
  it('is dropped when it covers nothing', () => {
    const leftover = new TrailingFinal();
    expect(leftover.before(final(0, 'said'), true)).toEqual([final(0, 'said')]);
    expect(leftover.before(final(1), true)).toEqual([]);
    expect(leftover.endS).toBe(2);
  });

  it('is not mistaken for the answer to an earlier commit: that comes when more follows', () => {
    const leftover = new TrailingFinal();
    expect(leftover.before(final(0), true)).toEqual([]);
    expect(leftover.before(final(1), true)).toEqual([final(0)]);
    expect(leftover.endS).toBe(2);
  });

  it('is emitted when speech had begun, and always while the stream is open', () => {
    const leftover = new TrailingFinal();
    expect(leftover.before(final(0), false)).toEqual([final(0)]);
    const started = { type: 'speech_started', utterance: 1, at: 1 } as const;
    expect([...leftover.before(started, true), ...leftover.before(final(1), true)]).toEqual([
      started,
      final(1),
    ]);
    expect(leftover.endS).toBeUndefined();
  });
});
