import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type SettledRequest } from '../../../src/gateway/registry/submitted-request.js';
import { FsBlobStore } from '../../../src/platform/storage/fs-blob-store.js';
import { type WorkerTask } from '../../../src/worker-client/worker-task.js';
import { RedisServer } from '../../support/redis-server.js';
import { describeWith, REDIS } from '../../support/requires.js';
import { SchedulerHarness } from '../../support/scheduler-harness.js';
import { ScriptedPuller } from '../../support/scripted-puller.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/waiting.js';

const SHORT_LOCK_MS = 500;
const LIMIT_MS = 60_000;

const outcome = ({ settlement }: SettledRequest): string =>
  settlement.status === 'completed' ? 'completed' : `${settlement.status} ${settlement.error.code}`;

const wait = (what: string, holds: () => boolean): Promise<void> =>
  until(holds, { what, limitMs: 30_000 });

describeWith(REDIS)('answers of workers that pull', () => {
  let redis: RedisServer;
  let folder: string;
  let harness: SchedulerHarness;
  let puller: ScriptedPuller;

  const pull = (id: string, lockMs = 30_000) =>
    ScriptedPuller.start({ url: redis.url, model: 'alpha', id, lockMs });

  beforeEach(async () => {
    redis = await RedisServer.start();
    folder = temporaryFolder();
    const settings = {
      'queue.driver': 'redis',
      'redis.url': redis.url,
      'data.dir': folder,
    } as const;
    harness = await SchedulerHarness.start({ settings });
    await wait('Redis', () => harness.redisUsable);
    puller = await pull('p1');
  }, LIMIT_MS);

  afterEach(async () => {
    await puller[Symbol.asyncDispose]();
    await harness.stop();
    await redis[Symbol.asyncDispose]();
  }, LIMIT_MS);

  it('streams speech from the blob store to its listener', async () => {
    const audio = new PassThrough();
    const headers: string[] = [];
    const sink = {
      audio,
      header: ({ contentType }: { contentType: string }) => void headers.push(contentType),
    };
    const task: WorkerTask = {
      kind: 'synthesize',
      text: 'hi',
      voice: 'amy',
      speed: 1,
      format: 'wav',
      sink,
    };
    const settled = harness.submit('r1', { payload: task });
    const held = await puller.take();
    expect(held.data).toMatchObject({
      kind: 'speech',
      options: { text: 'hi', voice: 'amy', speed: 1, format: 'wav' },
    });
    const spoken = Buffer.alloc(300_000, 7);
    await new FsBlobStore(join(folder, 'blobs')).write('plane/speech/1', bytes(spoken));
    await held.complete({
      ...{
        kind: 'speech',
        blob: 'plane/speech/1',
        contentType: 'audio/wav',
        sampleRate: 16_000,
        durationS: 2,
      },
    });
    const heard = Buffer.concat((await audio.toArray()) as Buffer[]);
    expect([heard.equals(spoken), headers]).toEqual([true, ['audio/wav']]);
    expect((await settled).settlement).toMatchObject({
      status: 'completed',
      reply: { kind: 'speech', durationS: 2 },
    });
  });

  it('brings vectors back byte by byte, with their usage', async () => {
    const body = Buffer.from('{"model":"alpha","input":"ä"}');
    const settled = harness.submit('r1', {
      payload: { kind: 'embed', body, inputs: 1 },
    });
    const held = await puller.take();
    expect(held.data).toMatchObject({
      kind: 'embedding',
      options: { body: body.toString(), inputs: 1 },
    });
    const vectors = Buffer.from(new Float32Array([0.5, -1]).buffer);
    const usage = { promptTokens: 3, completionTokens: 0, cachedTokens: 0 };
    await held.complete({
      kind: 'embeddings',
      vectors: vectors.toString('base64'),
      dimensions: 2,
      usage,
    });
    expect((await settled).settlement).toMatchObject({
      reply: { kind: 'embeddings', vectors, dimensions: 2, usage },
    });
  });

  it('hands a failure to its caller as the worker worded it', async () => {
    const settled = harness.submit('r1');
    const held = await puller.take();
    const phases = {
      workerId: 'p1',
      takenMs: Date.now(),
      batchWaitMs: 0,
      totalMs: 1,
      attempts: 1,
    };
    const error = { code: 'invalid_audio', message: 'No audio.', param: 'file' };
    await held.completeWith({ v: 1, outcome: 'failed', error, phases });
    expect((await settled).settlement).toMatchObject({ status: 'failed', error });
  });

  it.each([null, 'done', { v: 2 }, { v: 1, outcome: 'completed' }])(
    'answers %j, which is no result, with engine_failed',
    async result => {
      const settled = harness.submit('r1');
      await (await puller.take()).completeWith(result);
      expect(outcome(await settled)).toBe('failed engine_failed');
    },
  );

  it(
    'has the work of a dead worker done by another one, and drops what the dead one says later',
    async () => {
      const dying = await pull('p2', SHORT_LOCK_MS);
      await puller[Symbol.asyncDispose]();
      const settled = harness.submit('r1');
      const zombie = await dying.take();
      await wait('it is known to run', () => harness.types('r1').includes('leased'));
      puller = await pull('p3', SHORT_LOCK_MS);
      await puller.takeOver();
      const held = await puller.take();
      await expect(zombie.complete()).rejects.toThrow();
      await held.complete();
      const { settlement, attempts } = await settled;
      expect([settlement.status, attempts]).toEqual(['completed', 2]);
      expect(harness.types('r1')).toEqual(['accepted', 'leased', 'requeued', 'leased', 'settled']);
      await dying[Symbol.asyncDispose]();
    },
    LIMIT_MS,
  );

  it('keeps text generation in its own queue', () => {
    const body = Buffer.from('{}');
    const payload: WorkerTask = {
      kind: 'generate',
      form: 'chat',
      body,
      maxTokens: 0,
      n: 1,
    };
    void harness.submit('r1', { payload });
    expect(harness.queue.depth).toBe(1);
  });
});

// eslint-disable-next-line @typescript-eslint/require-await -- a blob is written from a stream
async function* bytes(all: Buffer): AsyncGenerator<Uint8Array> {
  yield all;
}
