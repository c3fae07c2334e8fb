import { once } from 'node:events';
import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from '@jest/globals';
import { NOT_SERVING, SERVICE_UNKNOWN, SERVING } from '@switchyard/worker-protocol/health.codec.js';
import { SttCaller } from './stt-caller.js';
import { sttModel, type WorkerChange, WorkerProcess } from './worker-process.js';

const SLOW = { marker: 'slow', action: 'slow', ms: 1500 };

describe('the life of a real worker', () => {
  let worker: WorkerProcess;
  let caller: SttCaller;

  async function start(
    options: Readonly<Record<string, unknown>> = {},
    change: WorkerChange = {},
  ): Promise<void> {
    worker = new WorkerProcess({ model: { ...sttModel, options }, ...change });
    caller = new SttCaller(await worker.ready());
  }

  const check = (service: string): Promise<unknown> =>
    new Promise(resolve => {
      caller.health.check({ service }, (error, reply) =>
        resolve(error ? error.code : reply.status),
      );
    });

  afterEach(async () => {
    caller?.close();
    await worker.kill();
  });

  it('says listening with its port, then ready', async () => {
    await start();
    expect(worker.messages.map(({ type }) => type)).toEqual(['listening', 'ready']);
  });

  it('reports what it is and what it takes', async () => {
    await start({ maxBatch: 6, maxConcurrent: 2, streams: 3 }, { maxMessageBytes: 5_000_000 });
    expect(await caller.report()).toMatchObject({
      state: 'ready',
      model: 'synthetic-stt',
      engine: 'synthetic',
      kind: 'stt',
      maxBatch: 6,
      maxConcurrent: 2,
      streams: 3,
      inFlight: 0,
      maxMessageBytes: 5_000_000,
    });
  });

  it('answers the standard health check for itself and its own service only', async () => {
    await start();
    const services = ['', 'switchyard.v1.SpeechToText', 'switchyard.v1.TextToSpeech'];
    expect(await Promise.all(services.map(check))).toEqual([SERVING, SERVING, 5]);
  });

  it('answers nobody but the gateway that started it', async () => {
    await start({}, { localToken: 'of-the-gateway' });
    expect(await check('')).toBe(status.UNAUTHENTICATED);
  });

  it('tells watchers when it stops serving', async () => {
    await start({ faults: [SLOW] });
    const watch = caller.health.watch({ service: '' });
    const seen: number[] = [];
    watch
      .on('data', (reply: { status: number }) => seen.push(reply.status))
      .on('error', () => undefined);
    const unknown = caller.health.watch({ service: 'other' });
    unknown.on('error', () => undefined);
    expect(await once(unknown, 'data')).toMatchObject([{ status: SERVICE_UNKNOWN }]);
    const { outcome } = caller.send('slow');
    await caller.inFlight(1);
    worker.child.kill('SIGTERM');
    await outcome;
    expect(await worker.exited).toBe(0);
    expect(seen).toEqual([SERVING, NOT_SERVING]);
  });

  it('finishes what is in flight after SIGTERM, refuses what is new, and ends with code 0', async () => {
    await start({ faults: [SLOW] });
    const { outcome } = caller.send('slow');
    await caller.inFlight(1);
    worker.child.kill('SIGTERM');
    while ((await caller.report()).state !== 'draining');
    expect(await check('')).toBe(NOT_SERVING);
    expect(await caller.send('late').outcome).toMatchObject({ code: 'worker_lost' });
    expect(await outcome).toMatchObject({ kind: 'transcript' });
    expect(await worker.exited).toBe(0);
  });

  it('cancels what outlasts the grace, so that another worker can take it', async () => {
    await start({ prepareMs: 3_600_000 }, { shutdownGraceMs: 100 });
    const { outcome } = caller.send('a');
    await caller.inFlight(1);
    worker.child.kill('SIGTERM');
    expect(await outcome).toMatchObject({ code: 'worker_lost' });
    expect(await worker.exited).toBe(0);
  });

  it('ends also when the engine never lets go', async () => {
    await start({ faults: [{ marker: 'stuck', action: 'hang' }] }, { shutdownGraceMs: 10 });
    const { outcome } = caller.send('stuck');
    await caller.inFlight(1);
    worker.child.kill('SIGTERM');
    expect(await worker.exited).toBe(0);
    expect(await outcome).toMatchObject({ code: 'worker_lost' });
  });

  it('ends when its supervisor is gone, whatever is in flight', async () => {
    await start({ prepareMs: 3_600_000 });
    caller.send('a');
    await caller.inFlight(1);
    worker.child.disconnect();
    expect(await worker.exited).toBe(0);
  });

  it('leaves Ctrl-C to its supervisor', async () => {
    await start();
    worker.child.kill('SIGINT');
    expect(await caller.send('a').outcome).toMatchObject({ kind: 'transcript' });
    expect(worker.child.exitCode).toBeNull();
  });

  it('says why it cannot start, and ends with code 1', async () => {
    worker = new WorkerProcess({
      model: { ...sttModel, options: { maxBatch: 'many' } },
    });
    const { message } = await worker.told('failed');
    expect(message).toContain('maxBatch');
    expect(await worker.exited).toBe(1);
  });

  it('writes JSON lines with worker and model', async () => {
    await start();
    worker.child.kill('SIGTERM');
    await worker.exited;
    const lines = worker.log.trim().split('\n');
    const fields = lines.map(line => JSON.parse(line) as { worker: string; model: string });
    expect(new Set(fields.map(({ worker: id, model }) => `${id} ${model}`))).toEqual(
      new Set(['worker-1 synthetic-stt']),
    );
  });
});
