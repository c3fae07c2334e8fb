import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { firstValueFrom } from 'rxjs';
import { DependencyMonitor, type DependencyState } from './dependency-monitor.js';

const often = { everyMs: 5, timeoutMs: 20 };

describe('DependencyMonitor', () => {
  let monitor: DependencyMonitor;
  beforeEach(() => {
    monitor = new DependencyMonitor();
  });
  afterEach(() => monitor.onApplicationShutdown());

  const changed = async (): Promise<DependencyState['status'] | undefined> => {
    await firstValueFrom(monitor.changes$);
    return monitor.state('redis')?.status;
  };

  it('knows nothing before the first probe ends, and of no dependency that there is none of', () => {
    const answer = Promise.withResolvers<void>();
    monitor.watch('redis', { probe: () => answer.promise });
    expect(monitor.state('redis')).toEqual({
      status: 'unknown',
      sinceMs: expect.any(Number) as unknown,
    });
    expect([monitor.isDown('redis'), monitor.state('database')]).toEqual([false, undefined]);
    // The wait for it would hold up the end of this process.
    answer.resolve();
  });

  it('says up, down with the reason, and up again, each once', async () => {
    let error: Error | undefined;
    monitor.watch('redis', {
      ...often,
      probe: () => (error ? Promise.reject(error) : Promise.resolve()),
    });
    expect(await changed()).toBe('up');
    error = new Error('away');
    expect(await changed()).toBe('down');
    expect(monitor.state('redis')?.error?.message).toBe('away');
    error = undefined;
    expect(await changed()).toBe('up');
    expect(monitor.state('redis')?.error).toBeUndefined();
  });

  it('counts a probe without an answer in time as failed, and sends a hung dependency at most 3', async () => {
    const answers: (() => void)[] = [];
    monitor.watch('redis', {
      ...often,
      probe: () => new Promise<void>(resolve => answers.push(resolve)),
    });
    expect(await changed()).toBe('down');
    expect(monitor.state('redis')?.error?.message).toBe('no answer within 20 ms');
    while (answers.length < 3) await new Promise(resolve => setTimeout(resolve, 1));
    // As long as several probes take, none is added.
    await new Promise(resolve => setTimeout(resolve, 10 * often.everyMs));
    expect(answers).toHaveLength(3);
    const back = changed();
    const answering = setInterval(() => answers.splice(0).forEach(answer => answer()), 1);
    expect(await back).toBe('up');
    clearInterval(answering);
  });

  it('learns of a failure from the first component that meets it', async () => {
    monitor.watch('redis', { everyMs: 60_000, probe: () => Promise.resolve() });
    expect(await changed()).toBe('up');
    monitor.failed('redis', new Error('full'));
    expect(monitor.isDown('redis')).toBe(true);
  });

  describe('by the clock', () => {
    beforeEach(() => void jest.useFakeTimers({ now: 1000 }));
    afterEach(() => void jest.useRealTimers());
    const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

    it('probes at once and every second, and tells since when it is how', async () => {
      let probes = 0;
      let changes = 0;
      monitor.changes$.subscribe(() => changes++);
      monitor.watch('redis', { probe: () => Promise.resolve(probes++) });
      await pass(0);
      expect(monitor.states()).toEqual([
        ['redis', { status: 'up', sinceMs: 1000, checkedMs: 1000, error: undefined }],
      ]);
      await pass(999);
      expect(probes).toBe(1);
      await pass(1);
      expect(probes).toBe(2);
      expect(monitor.state('redis')).toMatchObject({ sinceMs: 1000, checkedMs: 2000 });
      monitor.failed('redis', new Error('full'));
      monitor.failed('redis', new Error('still full'));
      monitor.failed('database', new Error('not watched'));
      expect(monitor.state('redis')).toMatchObject({ status: 'down', sinceMs: 2000 });
      expect([changes, monitor.isDown('database')]).toEqual([2, false]);
    });

    it('waits 2 s for an answer, and takes a probe that throws for one that fails', async () => {
      monitor.watch('redis', { everyMs: 60_000, probe: () => new Promise(() => undefined) });
      monitor.watch('blobs', {
        probe: () => {
          throw new Error('thrown');
        },
      });
      await pass(1990);
      expect([monitor.isDown('redis'), monitor.isDown('blobs')]).toEqual([false, true]);
      await pass(20);
      expect(monitor.state('redis')?.error?.message).toBe('no answer within 2000 ms');
    });

    it('probes a dependency that is watched anew by the new probe only, and none after the end', async () => {
      const probed: string[] = [];
      const probe = (name: string) => ({ probe: () => Promise.resolve(probed.push(name)) });
      let isComplete = false;
      monitor.changes$.subscribe({ complete: () => (isComplete = true) });
      monitor.watch('redis', probe('first'));
      monitor.watch('redis', probe('second'));
      await pass(1000);
      expect(probed).toEqual(['first', 'second', 'second']);
      monitor.onApplicationShutdown();
      await pass(5000);
      expect([probed.length, isComplete]).toEqual([3, true]);
    });
  });
});
