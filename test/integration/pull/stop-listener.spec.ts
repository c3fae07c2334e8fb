import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type StopNote } from '@switchyard/shared-queue/messages.codec.js';
import { type RequestQueue } from '@switchyard/shared-queue/worker/request-queue.js';
import { type Redis } from 'ioredis';
import { pino } from 'pino';
import { type WorkerSpec } from '../../../src/platform/config/worker-spec.js';
import { PullReadiness } from '../../../src/worker/lifecycle/worker-state.js';
import { PullConnections } from '../../../src/worker/pull/pull-connections.js';
import { StopListener } from '../../../src/worker/pull/stop-listener.js';
import { redisClient } from '../../support/redis-client.js';
import { RedisServer } from '../../support/redis-server.js';
import { until } from '../../support/waiting.js';

const QUEUE = { name: 'q' } as RequestQueue;

const told = (heard: readonly StopNote[]): Promise<void> =>
  until(() => heard.length > 0, { limitMs: 5000, everyMs: 2 });

describe('StopListener', () => {
  let server: RedisServer;
  let redis: Redis;
  const opened: PullConnections[] = [];
  beforeAll(async () => {
    server = await RedisServer.start();
    redis = redisClient(server.url);
  });
  afterEach(() => opened.splice(0).forEach(connections => connections.close()));
  afterAll(async () => {
    redis.disconnect();
    await server[Symbol.asyncDispose]();
  });

  /** A worker that has just begun its first job. */
  async function watching(jobId: string) {
    const spec = {
      workerId: 'w',
      sharedQueue: { server: { port: server.port }, prefix: 'p' },
    } as unknown as WorkerSpec;
    const connections = new PullConnections(spec, pino({ level: 'silent' }), new PullReadiness());
    opened.push(connections);
    const heard: StopNote[] = [];
    const watch = await new StopListener(connections, QUEUE).watch(jobId, note => heard.push(note));
    const stop = async (): Promise<void> => {
      const note = JSON.stringify({ queue: 'q', jobId, reason: 'client' });
      await redis.set(connections.keys.stop('q', jobId), note, 'PX', 60_000);
      await redis.publish(connections.keys.stops, note);
    };
    return { heard, stop, watch };
  }
  const subscribed = async (): Promise<boolean> =>
    ((await redis.call('CLIENT', 'LIST', 'TYPE', 'pubsub')) as string).includes('sub=1');

  it('hears a note that was told before, and one that is told while it is subscribing', async () => {
    for (let round = 0; round < 20; round++) {
      const { heard, stop } = await watching(`early-${round}`);
      await stop();
      await told(heard);
      expect(heard[0]).toMatchObject({ jobId: `early-${round}`, reason: 'client' });
    }
    const { heard } = await watching('early-0');
    expect(heard).toHaveLength(1);
  });

  it('hears a note that was told while its subscription was broken', async () => {
    const { heard, stop } = await watching('deaf');
    await until(subscribed);
    await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await stop();
    await told(heard);
  });

  it('tells nobody who is not running any more', async () => {
    const { heard, stop, watch } = await watching('over');
    await until(subscribed);
    watch[Symbol.dispose]();
    await stop();
    const other = await watching('later');
    await other.stop();
    await told(other.heard);
    expect(heard).toEqual([]);
  });
});
