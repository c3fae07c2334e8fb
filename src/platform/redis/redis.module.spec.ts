import { once } from 'node:events';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { RedisServer } from '../../../test/support/redis-server.js';
import { describeWith, REDIS } from '../../../test/support/requires.js';
import { type Settings } from '../config/settings.js';
import { judgedInfo } from './redis-info.js';
import { RedisLink } from './redis.module.js';

describeWith(REDIS)('commands of RedisLink', () => {
  let server: RedisServer;
  let client: Redis;
  let link: RedisLink;
  beforeEach(async () => {
    server = await RedisServer.start();
    link = new RedisLink({ redis: { url: server.url, prefix: 'spec' } } as Settings, Redis);
    client = link.commands(500)!;
    await once(client, 'ready');
  });
  afterEach(async () => {
    link.onApplicationShutdown();
    server.resume();
    await server[Symbol.asyncDispose]();
  });

  it.each([
    ['killed', () => server.kill()],
    ['hung', () => Promise.resolve(server.pause())],
    ['full', () => client.config('SET', 'maxmemory', '1')],
    ['a replica of another', () => client.replicaof('127.0.0.1', 1)],
  ])(
    'of one that is %s reject with queue_unavailable, and no unhandled rejection',
    async (_, end) => {
      await end();
      const script = client.eval("return redis.call('SET', KEYS[1], '1')", 1, 'key');
      void client.set('dropped', '1');
      const ends = await Promise.allSettled([
        client.set('key', '1'),
        script,
        client.lpush('list', '1'),
      ]);
      for (const { status, ...rest } of ends) {
        expect(status).toBe('rejected');
        expect(rest).toMatchObject({
          reason: { code: 'queue_unavailable', retryAfterMs: expect.any(Number) },
        });
      }
    },
  );

  it('reject with Redis’s own complaint where the command is wrong', async () => {
    await client.set('text', 'x');
    await expect(client.lpush('text', '1')).rejects.toMatchObject({ name: 'ReplyError' });
  });
});

describeWith(REDIS)('the check of Redis at the start', () => {
  const checked = async (...flags: readonly string[]) => {
    const server = await RedisServer.start(...flags);
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const link = new RedisLink({ redis: { url: server.url, prefix: 'spec' } } as Settings, Redis);
    try {
      await link.check();
      return warn.mock.calls.map(([text]) => String(text));
    } finally {
      warn.mockRestore();
      link.onApplicationShutdown();
      await server[Symbol.asyncDispose]();
    }
  };

  it('refuses a node of a cluster in words that say what to do', async () => {
    await expect(checked('--cluster-enabled', 'yes')).rejects.toThrow('node of a Redis Cluster');
  });

  it('warns of a policy that removes work, and of nothing where none is', async () => {
    const flags = ['--maxmemory', '50mb', '--maxmemory-policy'];
    expect(await checked(...flags, 'allkeys-lru')).toEqual([
      expect.stringContaining('allkeys-lru'),
    ]);
    expect(await checked(...flags, 'noeviction')).toEqual([]);
  });

  it('names a Sentinel', () => {
    const { refusal } = judgedInfo('# Server\r\nredis_version:7.0.15\r\nredis_mode:sentinel\r\n');
    expect(refusal).toContain('names a Sentinel');
  });
});

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
