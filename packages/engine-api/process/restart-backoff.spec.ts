import { describe, expect, it } from '@jest/globals';
import { RestartBackoff } from './restart-backoff.js';

const aBackoff = (random = 0) =>
  new RestartBackoff({ firstMs: 200, longestMs: 10_000, random: () => random });
const pauses = (backoff: RestartBackoff, count: number) =>
  Array.from({ length: count }, () => backoff.nextMs());

describe('RestartBackoff', () => {
  it('doubles from 200 ms and stays at 10 s for ever', () => {
    const backoff = aBackoff();
    expect(pauses(backoff, 8)).toEqual([200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
    expect(pauses(backoff, 5000).every(ms => ms === 10_000)).toBe(true);
  });

  it('shortens each pause by up to half', () => {
    const backoff = aBackoff(1);
    expect(pauses(backoff, 3)).toEqual([100, 200, 400]);
  });

  it('starts again at the shortest after a reset', () => {
    const backoff = aBackoff();
    pauses(backoff, 9);
    backoff.reset();
    expect(backoff.nextMs()).toBe(200);
  });

  it('does not grow with an end that is excused', () => {
    const backoff = aBackoff();
    pauses(backoff, 2);
    expect([backoff.nextMs(true), backoff.nextMs(true), backoff.nextMs()]).toEqual([400, 400, 800]);
  });
});
