import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import { Queue, QueueEvents, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { settingsFrom } from '../../../src/platform/config/settings.js';
import {
  pulledWork,
  WORKER_SPEC_VARIABLE,
  workerSpec,
} from '../../../src/platform/config/worker-spec.js';
import { FsBlobStore } from '../../../src/platform/storage/fs-blob-store.js';
import { NodeProcess } from '../../support/node-process.js';
import { RedisServer } from '../../support/redis-server.js';

/** A Redis, pull workers on it, and a bare client of the queue. */
export interface SharedQueueRig extends AsyncDisposable {
  /**
   * Adds so many jobs while nobody may take any, lets go, and answers jobs per second
   * until the last one is completed.
   */
  workOff(jobs: number): Promise<number>;
  /** The same backlog by BullMQ's `Worker` in this process. */
  workOffBare(
    jobs: number,
    device: { readonly atOnce: number; readonly sleepMs: number },
  ): Promise<number>;
}

const PREFIX = 'bench';
const AUDIO = 'plane/bench';

export async function startSharedQueueRig(
  model: ModelSpec,
  folder: string,
  workers: number,
): Promise<SharedQueueRig> {
  const redis = await RedisServer.start();
  const settings = settingsFrom({
    ...{
      'queue.driver': 'redis',
      'redis.url': redis.url,
      'redis.prefix': PREFIX,
      'data.dir': folder,
    },
    'logging.level': 'warn',
  });
  // eslint-disable-next-line @typescript-eslint/require-await -- a blob is written from a stream
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a tenth of a second');
  };
  await new FsBlobStore(resolve(folder, 'blobs')).write(AUDIO, bytes());
  const processes = Array.from({ length: workers }, (_, index) => {
    const spec = workerSpec(
      { workerId: `pull-${index}`, model, host: '127.0.0.1', port: 0 },
      settings,
    );
    const script = resolve('dist/main.worker.js');
    const env = {
      [WORKER_SPEC_VARIABLE]: JSON.stringify({
        ...spec,
        ...pulledWork(model, settings),
      }),
    };
    return new NodeProcess({ name: `pull-${index}`, script, env, folder });
  });
  await Promise.all(processes.map(worker => worker.message<{ type: 'ready' }>('ready')));
  const connections = Array.from(
    { length: 3 },
    () => new Redis(redis.url, { maxRetriesPerRequest: null }),
  );
  const [writer, listener, taker] = connections as [Redis, Redis, Redis];
  const name = new QueueKeys(PREFIX).queue(model.id);
  const queue = new Queue(name, { connection: writer, prefix: PREFIX });
  const events = new QueueEvents(name, { connection: listener, prefix: PREFIX });
  await events.waitUntilReady();

  const timed = async (jobs: number): Promise<number> => {
    await queue.pause();
    const data = {
      v: 1,
      kind: 'transcription',
      audio: { blob: AUDIO },
      options: { durationS: 0.1 },
    };
    const opts = { priority: 3, removeOnComplete: true };
    await queue.addBulk(Array.from({ length: jobs }, () => ({ name: 'request', data, opts })));
    let left = jobs;
    const done = new Promise<void>(all => {
      const count = (): void => {
        left -= 1;
        if (left > 0) return;
        events.off('completed', count);
        all();
      };
      events.on('completed', count);
    });
    const startMs = performance.now();
    await queue.resume();
    await done;
    return (jobs / (performance.now() - startMs)) * 1000;
  };
  return {
    workOff: timed,
    async workOffBare(jobs, { atOnce, sleepMs }) {
      const options = { connection: taker, prefix: PREFIX, concurrency: atOnce };
      const worker = new Worker(name, () => sleep(sleepMs).then(() => ({ v: 1 })), options);
      await worker.waitUntilReady();
      const perS = await timed(jobs);
      await worker.close();
      return perS;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(processes.map(worker => worker[Symbol.asyncDispose]()));
      await Promise.all([events.close(), queue.close()]);
      for (const connection of connections) connection.disconnect();
      await redis[Symbol.asyncDispose]();
    },
  };
}
