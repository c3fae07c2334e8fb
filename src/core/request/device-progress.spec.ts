import { describe, expect, it } from '@jest/globals';
import { leftMs, mostOverdue, WAITING } from './device-progress.js';

const on = (deviceMs: number, limitMs: number) => ({ onDevice: true, deviceMs, limitMs });

describe('the inference limit', () => {
  it.each([
    ['does not run while the request waits at its worker', WAITING, 30_000],
    ['counts from the begin of the engine call', on(10_000, 30_000), 20_000],
    ['is that of all members of the engine call', on(40_000, 240_000), 200_000],
    ['is at least its own, whatever the worker says', on(10_000, 1), 20_000],
    ['is over when the engine call took longer', on(240_001, 240_000), -1],
    ['is over when the worker does not know the request', undefined, 0],
  ])('%s', (_, progress, left) => expect(leftMs(30_000, progress)).toBe(left));

  it('is that of the engine call that is over first, of a file in several windows', () => {
    expect(mostOverdue([])).toBe(WAITING);
    expect(mostOverdue([on(1, 50), WAITING, on(30, 60)])).toEqual(on(30, 60));
  });
});
