import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { settingsFrom } from '../../src/platform/config/settings.js';
import { RedisLink } from '../../src/platform/redis/redis.module.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { redisClient } from '../support/redis-client.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith, REDIS } from '../support/requires.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause } from '../support/waiting.js';

const WRONG = 'planted-wrong-password';
const RIGHT = 'right-password';

describeWith(REDIS)('a Redis that refuses the password', () => {
  let redis: RedisServer;
  let owner: Redis;
  let folder: string;
  const refusedUrl = () => redis.url.replace('//', `//:${WRONG}@`);
  beforeAll(async () => {
    redis = await RedisServer.start();
    owner = redisClient(redis.url);
    await owner.config('SET', 'requirepass', RIGHT);
    await owner.auth(RIGHT);
    folder = temporaryFolder();
  });
  afterAll(async () => {
    owner.disconnect();
    await redis[Symbol.asyncDispose]();
  });

  it('does not end the gateway, which serves, and whose log and console have no password', async () => {
    const settings = { 'redis.url': refusedUrl(), 'logging.level': 'debug' };
    await using gateway = await GatewayProcess.start([syntheticModel({})], settings, {
      folder,
    });
    const log = async () => readFile(join(folder, 'gateway.log'), 'utf8');
    for (
      const endMs = performance.now() + 30_000;
      performance.now() < endMs && !(await log()).includes('WRONGPASS');
    )
      await pause(50);
    expect(await log()).toContain('WRONGPASS');
    expect((await gateway.call('GET', '/health/live')).status).toBe(200);
    expect(gateway.process.child.exitCode).toBeNull();
    expect(await log()).not.toContain(WRONG);
  });

  it('gets the subscriptions once it takes the password', async () => {
    const link = new RedisLink(settingsFrom({ 'redis.url': refusedUrl() }), Redis);
    const { publisher, subscriber } = link.pubSub()!;
    const messages: string[] = [];
    subscriber.on('message', (_channel, message) => messages.push(message));
    // As `@socket.io/redis-adapter` does: nobody waits for it, nobody catches it.
    void subscriber.subscribe('one');
    void publisher.publish('one', 'lost');
    await expect(subscriber.psubscribe('two*')).rejects.toThrow('WRONGPASS');
    await owner.config('SET', 'requirepass', WRONG);
    for (
      const endMs = performance.now() + 30_000;
      messages.length === 0 && performance.now() < endMs;
      await pause(50)
    )
      await owner.publish('one', 'heard');
    expect(messages[0]).toBe('heard');
    link.onApplicationShutdown();
    await owner.config('SET', 'requirepass', RIGHT);
  });

  it('is not named with its password by a process that nothing saved', async () => {
    const script = join(folder, 'crash.mjs');
    const module = (path: string) => JSON.stringify(resolve('src', path));
    await writeFile(
      script,
      `import { redactCrashes } from ${module('platform/process/crash-output.ts')};
       import { createRequire } from 'node:module';
       const { Redis } = createRequire(${module('main.gateway.ts')})('ioredis');
       redactCrashes();
       const redis = new Redis(process.env.REDIS_URL, { retryStrategy: null });
       redis.on('error', () => undefined);
       redis.subscribe('one');`,
    );
    const ended = await new Promise<{ code: unknown; stderr: string }>(done =>
      execFile(
        process.execPath,
        ['--import', resolve('test/support/typescript-loader.mjs'), script],
        { env: { REDIS_URL: refusedUrl() } },
        (error, _stdout, stderr) => done({ code: error?.code, stderr }),
      ),
    );
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('WRONGPASS');
    expect(ended.stderr).toContain('[redacted]');
    expect(ended.stderr).not.toContain(WRONG);
  });
});
