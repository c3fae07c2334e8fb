import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type WorkerPoolService } from '../../../src/gateway/worker-pool/worker-pool.service.js';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import {
  alone,
  isReady,
  makePool,
  modelSpec,
  request,
  transcribe,
  transcribeTask,
  workerThat,
} from '../../support/pool-harness.js';
import { aKey } from '../../support/requests.js';

describe('calls to a worker', () => {
  let worker: FixtureWorker;
  let pool: WorkerPoolService;
  let workerId: string;

  beforeEach(async () => {
    worker = new FixtureWorker();
    const address = `127.0.0.1:${await worker.start()}`;
    pool = makePool({ models: [modelSpec({ addresses: [address] })] });
    await pool.start();
    workerId = (await workerThat(pool, isReady)).id;
  });

  afterEach(async () => {
    await pool.close();
    worker.stop();
  });

  const execute = (prompt?: string, audio?: Buffer) =>
    pool.execute({ workerId, request: transcribe(prompt, audio), group: alone });

  it('answers with transcript and execution', async () => {
    const call = execute('', Buffer.alloc(1234));
    await expect(call.reply).resolves.toMatchObject({
      kind: 'transcript',
      transcript: { text: '1234 bytes of a.wav', language: 'en' },
      execution: {
        prepMs: 1,
        readyWaitMs: 2,
        deviceMs: 3,
        batchSize: 1,
        batchId: 'batch-1',
      },
    });
    await call.finished;
  });

  it('takes uploads up to the limit and rejects larger ones as file_too_large', async () => {
    const limit = 4 * 1024 * 1024;
    await expect(execute('', Buffer.alloc(limit)).reply).resolves.toMatchObject({
      kind: 'transcript',
    });
    await expect(execute('', Buffer.alloc(4 * limit)).reply).rejects.toMatchObject({
      code: 'file_too_large',
    });
  });

  it('one failing call touches none of its 7 neighbours, and the channel stays', async () => {
    const neighbours = Array.from({ length: 7 }, () => execute(script.hold));
    await worker.arrivals(7);
    await expect(execute(script.fail('invalid_audio')).reply).rejects.toMatchObject({
      code: 'invalid_audio',
      message: 'as the script says',
      param: 'x',
    });
    expect(pool.workers()[0]?.state).toBe('ready');
    worker.releaseAll();
    await expect(Promise.all(neighbours.map(({ reply }) => reply))).resolves.toHaveLength(7);
  });

  it('a cancel is acknowledged, and the call ends because the worker let go', async () => {
    const held = transcribe(script.hold);
    const call = pool.execute({ workerId, request: held, group: alone });
    await worker.arrivals(1);
    await expect(pool.cancel(workerId, aKey(held.id), 'client')).resolves.toBe(true);
    await expect(call.reply).rejects.toMatchObject({ code: 'request_cancelled' });
    await call.finished;
    expect(worker.holding).toEqual([]);
  });

  it('a call that ignores its cancel is not finished before the worker lets go', async () => {
    const held = transcribe(script.deaf);
    const call = pool.execute({ workerId, request: held, group: alone });
    let finished = false;
    void call.finished.then(() => (finished = true));
    await worker.arrivals(1);
    await pool.cancel(workerId, aKey(held.id), 'deadline');
    await expect(execute().reply).resolves.toBeDefined();
    expect(finished).toBe(false);
    worker.releaseAll();
    await call.finished;
    await call.reply;
  });

  it('a cancel names the attempt, by the id of its group', async () => {
    const held = transcribe(script.hold);
    const group = { id: 'this-attempt', size: 1 };
    const call = pool.execute({ workerId, request: held, group });
    await worker.arrivals(1);
    await pool.cancel(workerId, aKey(held.id), 'client');
    await call.finished;
    await call.reply.catch(() => undefined);
    expect(worker.attempts).toEqual(['this-attempt']);
  });

  it('its worker says how far a call is; one that has no Progress is taken to compute all that it has', async () => {
    const group = { ...alone, timeLimitMs: 100 };
    const calls = [1, 2].map(() =>
      pool.execute({ workerId, request: transcribe(script.hold), group }),
    );
    await worker.arrivals(2);
    expect(await calls[0]!.progress()).toMatchObject({ onDevice: true, limitMs: 200 });
    worker.progress = { known: true, onDevice: true, deviceMs: 7, limitMs: -1 };
    expect(await calls[0]!.progress()).toEqual({ onDevice: true, deviceMs: 7, limitMs: 0 });
    worker.progress = { known: false, onDevice: false, deviceMs: 0, limitMs: 0 };
    expect(await calls[0]!.progress()).toBeUndefined();
    worker.releaseAll();
    await Promise.all(calls.map(({ reply }) => reply));
  });

  it('a cancel that nobody answers within 100 ms resolves false and throws nothing', async () => {
    worker.ignoreCancel = true;
    const held = transcribe(script.hold);
    const call = pool.execute({ workerId, request: held, group: alone });
    await worker.arrivals(1);
    await expect(pool.cancel(workerId, aKey(held.id), 'client')).resolves.toBe(false);
    worker.releaseAll();
    await expect(call.reply).resolves.toBeDefined();
  });

  it('a cancel of what has ended, or of an unknown worker, resolves false', async () => {
    const done = transcribe();
    await pool.execute({ workerId, request: done, group: alone }).finished;
    await expect(pool.cancel(workerId, aKey(done.id), 'client')).resolves.toBe(false);
    await expect(pool.cancel('nobody', aKey(done.id), 'client')).resolves.toBe(false);
    expect(worker.cancelled).toEqual([]);
  });

  it('a request cancelled while its upload is read never reaches the worker', async () => {
    let uploaded: (bytes: Buffer) => void = () => undefined;
    const upload = new Promise<Buffer>(resolve => (uploaded = resolve));
    const reading = request(transcribeTask('', () => upload));
    const call = pool.execute({ workerId, request: reading, group: alone });
    await expect(pool.cancel(workerId, aKey(reading.id), 'disconnect')).resolves.toBe(true);
    uploaded(Buffer.alloc(10));
    await expect(call.reply).rejects.toMatchObject({ code: 'request_cancelled' });
    await call.finished;
    expect(worker.received).toEqual([]);
  });

  it('an upload that cannot be read fails its request only', async () => {
    const unreadable = request(transcribeTask('', () => Promise.reject(new Error('EIO'))));
    const call = pool.execute({ workerId, request: unreadable, group: alone });
    await expect(call.reply).rejects.toMatchObject({
      code: 'internal_error',
      message: 'EIO',
    });
    await call.finished;
    await expect(execute().reply).resolves.toBeDefined();
  });

  it('connections torn down under 8 calls give 8 worker_lost; the worker is back on a new channel', async () => {
    const calls = Array.from({ length: 8 }, () => execute(script.hold));
    await worker.arrivals(8);
    const port = Number(pool.workers()[0]?.address?.split(':')[1]);
    worker.stop();
    const errors = await Promise.all(
      calls.map(({ reply }) => reply.catch((error: unknown) => error)),
    );
    expect(errors.map(error => (error as { code: string }).code)).toEqual(
      Array(8).fill('worker_lost'),
    );
    await Promise.all(calls.map(({ finished }) => finished));
    expect(pool.offer('m')).toBeUndefined();
    worker = new FixtureWorker();
    await worker.start(port);
    await workerThat(pool, isReady);
    await expect(execute().reply).resolves.toBeDefined();
  });

  it('a call for a worker that is not there is worker_lost, and finished', async () => {
    const call = pool.execute({
      workerId: 'nobody',
      request: transcribe(),
      group: alone,
    });
    await expect(call.reply).rejects.toMatchObject({ code: 'worker_lost' });
    await call.finished;
  });

  it('closing ends calls that are left, each once, and gives no more offers', async () => {
    const call = execute(script.hold);
    await once(worker, 'received');
    await Promise.all([pool.close(), pool.close()]);
    await expect(call.reply).rejects.toMatchObject({ code: 'request_cancelled' });
    await call.finished;
    expect(pool.offer('m')).toBeUndefined();
    await expect(execute().reply).rejects.toMatchObject({ code: 'worker_lost' });
  });
});
