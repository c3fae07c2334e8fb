import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Subject } from 'rxjs';
import { settingsFrom } from '../../platform/config/settings.js';
import { type DependencyMonitor } from '../../platform/dependencies/dependency-monitor.js';
import { type RedisLink } from '../../platform/redis/redis.module.js';
import { SharedQueueLink } from './shared-queue-link.js';

const SHARED = { 'queue.driver': 'redis', 'redis.url': 'redis://127.0.0.1:1' };

describe('Redis as the shared queue sees it', () => {
  let client: EventEmitter & { status: string };
  let isDown: boolean;
  let changes$: Subject<string>;
  const [failed, time, commands] = [jest.fn(), jest.fn(), jest.fn()];
  let link: SharedQueueLink;

  beforeEach(() => {
    [isDown, changes$] = [false, new Subject()];
    for (const mock of [failed, time, commands]) mock.mockReset();
    time.mockReturnValue(Promise.resolve(['1', '0']));
    client = Object.assign(new EventEmitter(), { status: 'ready', time });
    commands.mockReturnValue(client);
    link = made();
  });

  function made(settings: Record<string, string | number> = SHARED): SharedQueueLink {
    const monitor = {
      changes$,
      failed,
      isDown: () => isDown,
      state: () => ({ error: new Error('refused') }),
    };
    return new SharedQueueLink(
      { commands, listener: () => client } as unknown as RedisLink,
      monitor as unknown as DependencyMonitor,
      settingsFrom(settings),
    );
  }

  it('is usable while it is connected and does its work', () => {
    expect([link.usable, link.enabled, link.listener()]).toEqual([true, true, client]);
    expect(() => link.demand()).not.toThrow();
    isDown = true;
    expect(link.usable).toBe(false);
    [isDown, client.status] = [false, 'connecting'];
    expect(link.usable).toBe(false);
    expect(() => link.demand()).toThrow(expect.objectContaining({ code: 'queue_unavailable' }));
  });

  it('is back when it is connected, and when it is found to work', () => {
    const [back, complete] = [jest.fn(), jest.fn()];
    link.back$.subscribe({ next: back, complete });
    client.emit('ready');
    expect([back.mock.calls.length, time.mock.calls.length]).toEqual([1, 1]);
    changes$.next('redis');
    changes$.next('database');
    isDown = true;
    changes$.next('redis');
    expect([back.mock.calls.length, complete.mock.calls.length]).toEqual([2, 0]);
    link.onApplicationShutdown();
    expect(complete).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['OOM command not allowed', 1],
    ['Command timed out', 1],
    ['Connection is closed.', 0],
  ])('that fails with "%s" is known to be down: %d', async (message, times) => {
    await expect(link.answered(Promise.reject(new Error(message)))).rejects.toMatchObject({
      code: 'queue_unavailable',
    });
    expect(failed.mock.calls).toHaveLength(times);
    expect(await link.answered(Promise.resolve(1))).toBe(1);
  });

  it('is only looked at while it answers at once', async () => {
    const read = jest.fn(() => Promise.resolve('read'));
    expect(await link.look(read, 'else')).toBe('read');
    expect(await link.look(() => Promise.reject(new Error('away')), 'else')).toBe('else');
    client.status = 'end';
    expect(await link.look(read, 'else')).toBe('else');
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('that hangs is not waited for by who only looks', async () => {
    expect(await link.look(() => new Promise(() => undefined), 'else')).toBe('else');
  });

  it.each([
    [{}, 60_000],
    [{ 'redis.result_ttl_ms': 50_000 }, 50_000],
  ])('keeps answered jobs for three leases, or as long as results: %j', (settings, ms) => {
    expect(made({ ...SHARED, 'requests.lease_ms': 20_000, ...settings }).answeredMs).toBe(ms);
  });

  it('is not there where the queue is embedded', () => {
    commands.mockClear();
    const embedded = made({});
    expect([embedded.enabled, embedded.usable, commands.mock.calls]).toEqual([false, false, []]);
    expect(() => embedded.redis).toThrow('queue.driver');
    expect(() => embedded.access).toThrow('queue.driver');
  });
});
