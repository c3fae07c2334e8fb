import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { useFakeTimers, useRealTimers } from '../../../test/support/fake-timers.js';
import { JobStop, LineGrace } from './job-stop.js';

type Reason = Parameters<JobStop['request']>[0];

describe('JobStop', () => {
  it('keeps the strongest reason and reports each change', () => {
    const stop = new JobStop();
    const heard: string[] = [];
    stop.listen(reason => heard.push(reason));
    expect(heard).toEqual([]);
    for (const reason of ['expired', 'cancelled', 'expired', 'shutdown', 'lost', 'failed'] as const)
      stop.request(reason);
    expect(heard).toEqual(['expired', 'cancelled', 'shutdown', 'lost']);
    expect(stop.reason).toBe('lost');
  });

  it('reports a reason once, at once to whoever comes later, and not to whoever left', () => {
    const stop = new JobStop();
    const heard: string[] = [];
    const leave = stop.listen(reason => heard.push(`first ${reason}`));
    for (let times = 0; times < 2; times++) stop.request('expired');
    leave();
    stop.listen(reason => heard.push(`second ${reason}`));
    stop.request('lost');
    expect(heard).toEqual(['first expired', 'second expired', 'second lost']);
  });

  it.each<[Reason | undefined, boolean]>([
    [undefined, false],
    ['expired', false],
    ['cancelled', false],
    ['failed', false],
    ['preempted', true],
    ['trouble', true],
    ['shutdown', true],
    ['lost', true],
  ])('leaves the end of the job to another: %s is %s', (reason, handsOver) => {
    const stop = new JobStop();
    if (reason) stop.request(reason);
    expect(stop.handsOver).toBe(handsOver);
  });
});

describe('the pause of a job', () => {
  beforeEach(useFakeTimers);
  afterEach(useRealTimers);

  it.each<[Reason, number]>([
    ['cancelled', 1000],
    ['shutdown', 400],
  ])('with %s after 400 of 1000 ms ends after %d ms', async (reason, afterMs) => {
    const stop = new JobStop();
    const startMs = Date.now();
    const over = stop.pause(1000).then(() => Date.now() - startMs);
    await jest.advanceTimersByTimeAsync(400);
    stop.request(reason);
    await jest.advanceTimersByTimeAsync(2000);
    expect(await over).toBe(afterMs);
  });
});

it.each<[Reason | undefined, number]>([
  ['cancelled', 5000],
  [undefined, 5000],
  ['shutdown', 300],
  ['lost', 0],
])('lines in flight of a job that stops may finish: %s gives them %d ms', (reason, ms) => {
  const grace = new LineGrace(5000, 300);
  expect(grace.msFor(reason)).toBe(ms);
  grace.hurry();
  expect(grace.msFor(reason)).toBe(0);
});
