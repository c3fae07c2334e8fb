import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type WorkerHealthReport } from '../../contracts/grpc/health.codec.js';
import { WorkerHealth } from './worker-health.js';

const REPORT = { state: 'ready', inFlight: 0 } as WorkerHealthReport;

/** Answers probes in order; each probe waits until the test lets it go. */
function watched(failures: number, rests = false) {
  const heard: string[] = [];
  const waiting: {
    resolve: (report: WorkerHealthReport) => void;
    reject: (error: Error) => void;
  }[] = [];
  const arrivals: (() => void)[] = [];
  const health = new WorkerHealth({
    intervalMs: 1,
    ...{ failures, rests },
    probe: () =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        arrivals.shift()?.();
      }),
    onReport: () => heard.push('report'),
    onFailure: () => undefined,
    onUnhealthy: () => heard.push('unhealthy'),
    onStillAway: () => heard.push('away'),
  });
  const probe = async () => {
    if (waiting.length === 0) await new Promise<void>(resolve => arrivals.push(resolve));
    return waiting.shift()!;
  };
  return { health, heard, waiting, probe };
}

afterEach(() => void jest.useRealTimers());

describe('WorkerHealth', () => {
  it('says unhealthy at the 3rd failure in a row, once per series, and then that it is still away at each 2nd; one answer forgets them', async () => {
    const { health, heard, probe } = watched(3);
    health.probeNow();
    for (const outcome of ['fail', 'fail', 'ok', 'fail', 'fail', 'fail', 'fail', 'fail', 'ok']) {
      const { resolve, reject } = await probe();
      if (outcome === 'ok') resolve(REPORT);
      else reject(new Error('no answer'));
    }
    await probe();
    health.stop();
    expect(heard).toEqual(['report', 'unhealthy', 'away', 'report']);
  });

  it('runs one probe at a time; asked meanwhile, it probes again right after', async () => {
    const { health, waiting, probe } = watched(3);
    health.probeNow();
    health.probeNow();
    health.probeNow();
    expect(waiting).toHaveLength(1);
    (await probe()).resolve(REPORT);
    await probe();
    expect(waiting).toHaveLength(0);
    health.stop();
  });

  it('ignores an answer that comes after stop(), and never probes again', async () => {
    const { health, heard, waiting, probe } = watched(1);
    health.probeNow();
    const { reject } = await probe();
    health.stop();
    reject(new Error('closed'));
    await new Promise(resolve => setImmediate(resolve));
    health.probeNow();
    expect(heard).toEqual([]);
    expect(waiting).toHaveLength(0);
  });

  it.each([
    // reports                  rests  intervals until the next probe
    ['nothing to do, 2 times', true, 1],
    ['nothing to do, 3 times', true, 10],
    ['nothing to do, 3 times', false, 1],
    ['a call, 3 times', true, 1],
  ])('after %s, rests %s: probes again after %d ms', async (reports, rests, intervals) => {
    jest.useFakeTimers();
    const { health, waiting, probe } = watched(3, rests);
    health.probeNow();
    for (let answer = 0; answer < Number(/\d/.exec(reports)); answer += 1) {
      await jest.advanceTimersByTimeAsync(1);
      (await probe()).resolve({
        ...REPORT,
        inFlight: reports.startsWith('a call') ? 1 : 0,
      });
    }
    await jest.advanceTimersByTimeAsync(0);
    await jest.advanceTimersByTimeAsync(intervals - 1);
    expect(waiting).toHaveLength(0);
    await jest.advanceTimersByTimeAsync(1);
    expect(waiting).toHaveLength(1);
    health.stop();
  });

  it('probes at the usual pace again as soon as the worker is given work', async () => {
    jest.useFakeTimers();
    const { health, waiting, probe } = watched(3, true);
    health.probeNow();
    for (let answer = 0; answer < 3; answer += 1) {
      await jest.advanceTimersByTimeAsync(1);
      (await probe()).resolve(REPORT);
    }
    await jest.advanceTimersByTimeAsync(1);
    health.busy();
    await jest.advanceTimersByTimeAsync(1);
    expect(waiting).toHaveLength(1);
    health.stop();
  });
});
