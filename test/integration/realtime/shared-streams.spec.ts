import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import { Redis } from 'ioredis';
import { settingsFrom } from '../../../src/platform/config/settings.js';
import { HostedWorkers } from '../../support/hosted-worker.js';
import { RealtimeClient, TRANSCRIPTION } from '../../support/realtime-client.js';
import { RedisServer } from '../../support/redis-server.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { syntheticModel } from '../../support/synthetic-model.js';
import { GatewayRig, until } from '../api/gateway-rig.js';
import { heardIn } from './realtime-rig.js';

const WORKERS = 2;

/** As `SharedPlaces` has them. */
const GATEWAYS = (() => {
  const keys = new QueueKeys('switchyard');
  return `${keys.shares(keys.queue('synthetic streams'))}slots:gateways`;
})();

describeWith(REDIS)('live streams of two gateways at workers of one stream each', () => {
  let redis: RedisServer;
  let client: Redis;
  let workers: HostedWorkers;
  let rigs: GatewayRig[];
  let clients: RealtimeClient[];

  beforeEach(async () => {
    redis = await RedisServer.start();
    client = new Redis(redis.url);
    client.on('error', () => undefined);
    clients = [];
    const spec = { capabilities: ['transcribe', 'stream'], replicas: WORKERS } as const;
    workers = await HostedWorkers.start([syntheticModel({ streams: 1 }, spec)], settingsFrom({}));
    const settings = { 'queue.driver': 'redis', 'redis.url': redis.url } as const;
    const { models } = workers;
    rigs = await Promise.all([1, 2].map(() => GatewayRig.start({ models, settings })));
    const beats = () => client.zrange(GATEWAYS, 0, '-1', 'WITHSCORES');
    await until(async () => (await beats()).length === 4);
    const first = await beats();
    // The second heartbeat: the first one was answered.
    await until(async () => (await beats()).every((one, at) => at % 2 === 0 || one !== first[at]));
  });
  afterEach(async () => {
    for (const one of clients) one.drop();
    for (const rig of rigs) await rig.close();
    await workers[Symbol.asyncDispose]();
    client.disconnect();
    await redis[Symbol.asyncDispose]();
  });

  const speaking = async (rig: GatewayRig, audio: string): Promise<RealtimeClient> => {
    const one = await RealtimeClient.synthetic(rig.url);
    clients.push(one);
    one.say(audio);
    return one;
  };
  const completed = async (one: RealtimeClient): Promise<unknown> => {
    one.commit();
    return (await one.next(`${TRANSCRIPTION}.completed`)).transcript;
  };
  const hosts = (rig: GatewayRig): string[] =>
    rig.pool.workers().flatMap(({ id, streamsInUse }) => (streamsInUse ? [id] : []));

  it('go to the worker that is free, whoever has the other one', async () => {
    const [a, b] = rigs as [GatewayRig, GatewayRig];
    const first = await speaking(a, 'one ');
    expect(await completed(first)).toBe(heardIn('one '));
    const second = await speaking(b, 'two ');
    expect(await completed(second)).toBe(heardIn('two '));
    expect(new Set([...hosts(a), ...hosts(b)]).size).toBe(WORKERS);
    expect([hosts(a).length, hosts(b).length]).toEqual([1, 1]);
  });

  it('are refused while both are taken, and the slot of one that ends is there for the other gateway', async () => {
    const [a, b] = rigs as [GatewayRig, GatewayRig];
    const both = [await speaking(a, 'one '), await speaking(a, 'two ')];
    expect(await completed(both[0]!)).toBe(heardIn('one '));
    expect(await completed(both[1]!)).toBe(heardIn('two '));
    const third = await speaking(b, 'three ');
    expect((await third.next('error')).error.code).toBe('queue_full');
    expect((await third.closed).code).toBe(1013);
    both[0]!.socket.close(1000);
    await both[0]!.closed;
    const fourth = await speaking(b, 'four');
    expect(await completed(fourth)).toBe(heardIn('four'));
  });

  it('go on while Redis is away, and are in the account when it is back', async () => {
    const [a, b] = rigs as [GatewayRig, GatewayRig];
    const first = await speaking(a, 'one ');
    expect(await completed(first)).toBe(heardIn('one '));
    await redis.kill();
    expect(await completed(await speaking(a, 'two '))).toBe(heardIn('two '));
    await redis.restart();
    await until(async () => (await client.zcard(GATEWAYS).catch(() => 0)) === 2);
    const third = await speaking(b, 'three ');
    expect((await third.next('error')).error.code).toBe('queue_full');
  });
});
