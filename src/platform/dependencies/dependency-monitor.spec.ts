import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
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
});
