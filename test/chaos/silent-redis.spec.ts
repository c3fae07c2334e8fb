import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { type Settings } from '../../src/platform/config/settings.js';
import { RedisLink } from '../../src/platform/redis/redis.module.js';
import { freePort } from '../support/free-port.js';
import { RedisServer } from '../support/redis-server.js';
import { describeWith, REDIS } from '../support/requires.js';
import { pause } from '../support/waiting.js';
import { HalfOpenLink } from './seeded/half-open-link.js';

describeWith(REDIS)('a connection to Redis that stays open and says nothing', () => {
  let server: RedisServer;
  let wire: HalfOpenLink;
  let link: RedisLink;

  beforeEach(async () => {
    server = await RedisServer.start();
    wire = new HalfOpenLink(server.port);
    const port = await freePort();
    await wire.listen(port);
    const redis = { url: `redis://127.0.0.1:${port}`, prefix: 'spec' };
    link = new RedisLink({ redis } as Settings, Redis);
  });
  afterEach(async () => {
    link.onApplicationShutdown();
    await wire[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  it('is replaced, whatever it is for, when nothing comes', async () => {
    const commands = link.commands(500)!;
    const { publisher, subscriber } = link.pubSub()!;
    const all = [commands, publisher, subscriber];
    await Promise.all(all.map(client => once(client, 'ready')));
    await subscriber.subscribe('channel');
    wire.freeze('back');
    wire.letOthersPass();
    await Promise.all(all.map(client => once(client, 'ready')));
    const heard = once(subscriber, 'message');
    await publisher.publish('channel', 'again');
    expect(await heard).toEqual(['channel', 'again']);
    expect(await commands.set('key', '1')).toBe('OK');
  }, 60_000);

  it('goes on after the thaw, also where it had to be opened again in between', async () => {
    const commands = link.commands(500)!;
    await once(commands, 'ready');
    wire.freeze('there');
    void commands.get('lost');
    await once(commands, 'close');
    await once(commands, 'connect');
    await pause(1000); // longer than a command may take
    wire.thaw();
    await once(commands, 'ready');
    for (let number = 0; number < 10; number++) {
      await commands.set('key', number);
      expect(await commands.get('none')).toBeNull();
      expect(await commands.get('key')).toBe(String(number));
    }
  }, 60_000);

  it('is kept while it has nothing to say, or while a command waits at Redis', async () => {
    const { subscriber } = link.pubSub()!;
    const waiting = link.listener()!;
    await Promise.all([once(subscriber, 'ready'), once(waiting, 'ready')]);
    await subscriber.subscribe('channel');
    let closed = 0;
    for (const client of [subscriber, waiting]) client.on('close', () => (closed += 1));
    await waiting.xread('BLOCK', 5000, 'STREAMS', 'stream', '$');
    expect(closed).toBe(0);
  }, 60_000);
});
