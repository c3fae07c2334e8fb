import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type QueueJobResult } from '@switchyard/shared-queue/result.codec.js';
import { Queue } from 'bullmq';
import { redisClient } from '../../support/redis-client.js';
import { ttsModel } from '../worker/worker-process.js';
import { PullQueue } from './pull-harness.js';

const embedder = {
  ...ttsModel,
  id: 'synthetic-embedding',
  kind: 'embedding',
  capabilities: ['embeddings'],
} as const;

describe('a pull worker', () => {
  let harness: PullQueue;
  beforeAll(async () => {
    harness = await PullQueue.start();
    await harness.worker();
  });
  afterAll(() => harness[Symbol.asyncDispose]());

  it('answers a transcription with text, execution and where the time went', async () => {
    const result = await harness.result(await harness.submit('hello'));
    expect(result).toMatchObject({
      ...{ v: 1, outcome: 'completed' },
      value: { kind: 'transcript', transcript: { text: expect.any(String) as unknown } },
      execution: { batchSize: 1 },
      phases: { workerId: 'worker-1', attempts: 1 },
    });
  });

  it('delivers failures as it delivers successes, in the words of the error table', async () => {
    const missing = await harness.queue.add('request', {
      v: 1,
      kind: 'transcription',
      audio: { blob: 'harness/none' },
    });
    expect(await harness.result(missing)).toMatchObject({
      outcome: 'failed',
      error: { code: 'file_not_found' },
    });
    const speech = await harness.submit('x', {
      fields: { kind: 'speech', audio: undefined, options: { text: 'a', voice: 'b' } },
    });
    expect(await harness.result(speech)).toMatchObject({
      outcome: 'failed',
      error: { code: 'model_kind_mismatch' },
    });
    const url = await harness.submit('x', {
      fields: { audio: { url: 'http://127.0.0.1:9/a.wav' } },
    });
    expect(await harness.result(url)).toMatchObject({
      outcome: 'failed',
      error: { code: 'file_url_refused' },
    });
  });

  it('gives back a job whose bytes the blob store cannot read now, and runs it when it can', async () => {
    const audio = await harness.audio('away');
    const path = join(harness.folder, 'blobs', audio.blob);
    const bytes = await readFile(path);
    await rm(path);
    // Reading it is EISDIR.
    await mkdir(path);
    const job = await harness.submit('', { fields: { audio } });
    const [worker] = harness.workers;
    await harness.until('it is given back', () => worker!.log.includes('job_given_back'));
    await rm(path, { recursive: true });
    await writeFile(path, bytes);
    expect(await harness.result(job)).toMatchObject({ outcome: 'completed' });
  });

  it('is not begun after its queue deadline', async () => {
    const late = await harness.submit('late', { fields: { deadlineMs: 1 } });
    expect(await harness.result(late)).toMatchObject({
      outcome: 'failed',
      error: { code: 'queue_timeout' },
    });
  });

  it('keeps results for as long as the queue says, and the same id is the same job', async () => {
    const first = await harness.submit('once', { options: { jobId: 'open.same' } });
    const result = await harness.result(first);
    const again = await harness.submit('twice', { options: { jobId: 'open.same' } });
    expect(await harness.result(again)).toEqual(result);
  });

  it('announces to gateways what Health reports, and how many slots it has', async () => {
    // The announcement of the last heartbeat may still count the job before.
    const slotsInUse = async () => (await harness.announcement('worker-1'))?.slots.inUse;
    await harness.until('it is announced as idle', async () => (await slotsInUse()) === 0);
    expect(await harness.announcement('worker-1')).toMatchObject({
      ...{ v: 1, model: 'synthetic-stt', slots: { total: 12, inUse: 0 } },
      health: { state: 'ready', kind: 'stt', maxBatch: 6, maxConcurrent: 1 },
    });
  });
});

describe('pull workers of other kinds', () => {
  it('put speech into the blob store and answer where it lies', async () => {
    await using harness = await PullQueue.start({ model: ttsModel });
    await harness.worker();
    const data = {
      v: 1,
      kind: 'speech',
      options: { text: 'Hello there.', voice: 'synthetic', format: 'wav' },
    };
    const result = await harness.result(await harness.queue.add('request', data, { priority: 2 }));
    if (result.outcome !== 'completed' || result.value.kind !== 'speech')
      throw new Error(JSON.stringify(result));
    expect(result.value).toMatchObject({ contentType: 'audio/wav', sampleRate: 24_000 });
    expect(await harness.blobs.size(result.value.blob)).toBeGreaterThan(44);
  });

  it('answer embeddings as base64 of 32-bit floats', async () => {
    await using harness = await PullQueue.start({ model: embedder });
    await harness.worker();
    const options = {
      body: JSON.stringify({ model: 'm', input: ['a', 'b'] }),
      inputs: 2,
    };
    const result = await harness.result(
      await harness.queue.add('request', { v: 1, kind: 'embedding', options }),
    );
    if (result.outcome !== 'completed' || result.value.kind !== 'embeddings')
      throw new Error(JSON.stringify(result));
    expect(Buffer.from(result.value.vectors, 'base64')).toHaveLength(
      2 * 4 * result.value.dimensions,
    );
  });
});

describe('a bare BullMQ client', () => {
  it('submits as src/worker/pull/README.md says, with nothing of this project', async () => {
    await using harness = await PullQueue.start();
    await harness.worker();
    const { blob } = await harness.audio('any bytes');
    const connection = redisClient(harness.redis.url);
    const queue = new Queue('requests-synthetic-stt', { connection, prefix: 'test' });
    const job = await queue.add(
      'request',
      { v: 1, kind: 'transcription', audio: { blob } },
      { priority: 3 },
    );
    await harness.until('the job is completed', () => job.isCompleted());
    const done = await queue.getJob(job.id!);
    expect((done?.returnvalue as QueueJobResult).outcome).toBe('completed');
    await queue.close();
    connection.disconnect();
  });
});
