import { once } from 'node:events';
import { expect, it, jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisServer } from '../../../test/support/redis-server.js';
import { describeWith, REDIS } from '../../../test/support/requires.js';
import { type Settings } from '../config/settings.js';
import { RedisLink } from './redis.module.js';

describeWith(REDIS)('the shutdown of RedisLink', () => {
  it('leaves no timer that keeps the process for long, also when Redis has gone before', async () => {
    const server = await RedisServer.start();
    const redis = { url: server.url, prefix: 'spec' };
    const link = new RedisLink({ redis } as Settings, Redis);
    const client = link.listener()!;
    await once(client, 'ready');
    const closed = once(client, 'close');
    await server[Symbol.asyncDispose]();
    await closed;
    const timers = jest.spyOn(globalThis, 'setTimeout');
    link.onApplicationShutdown();
    const waitsMs = timers.mock.calls.map(([, ms = 0]) => ms);
    timers.mockRestore();
    expect(waitsMs.filter(ms => ms > 100)).toEqual([]);
  });
});
