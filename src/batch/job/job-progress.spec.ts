import { describe, expect, it } from '@jest/globals';
import { JobProgress } from './job-progress.js';

const usage = { inputTokens: 3, outputTokens: 2, cachedTokens: 1, reasoningTokens: 5 };

describe('the progress of a job', () => {
  it('counts the first result of a line only, by its kind', () => {
    const progress = new JobProgress(20);
    for (const [index, kind] of [
      [1, 'O'],
      [1, 'E'],
      [9, 'E'],
      [0, 'O'],
      [19, 'O'],
    ] as const)
      progress.record({ index, kind });
    expect(progress.counts).toEqual({ total: 20, completed: 3, failed: 1 });
    expect([progress.done, progress.remaining]).toEqual([4, 16]);
    const done = Array.from({ length: 20 }, (_, index) => index).filter(at => progress.has(at));
    expect(done).toEqual([0, 1, 9, 19]);
  });

  it('sums the tokens of the answers that have some', () => {
    const progress = new JobProgress(3);
    progress.record({ index: 0, kind: 'E' });
    expect(progress.usage).toBeUndefined();
    progress.record({ index: 1, kind: 'O', usage });
    expect(progress.usage).toEqual(usage);
    progress.record({ index: 2, kind: 'O', usage: { ...usage, inputTokens: 10 } });
    expect(progress.usage).toEqual({
      ...{ inputTokens: 13, outputTokens: 4, cachedTokens: 2, reasoningTokens: 10 },
    });
  });

  it.each([-1, 2, 0.5, NaN])('refuses a result of line %d of 2', index => {
    const progress = new JobProgress(2);
    const message = `The batch has lines 0 to 1, not ${index}.`;
    expect(() => progress.record({ index, kind: 'O' })).toThrow(new RangeError(message));
    expect(progress.done).toBe(0);
  });
});
