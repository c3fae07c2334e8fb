import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type WorkerPoolService } from '../../../src/gateway/worker-pool/worker-pool.service.js';
import { type SettingPath } from '../../../src/platform/config/settings.js';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import {
  alone,
  isReady,
  makePool,
  modelSpec,
  transcribe,
  workerThat,
} from '../../support/pool-harness.js';

describe('a cancel', () => {
  let worker: FixtureWorker;
  let pool: WorkerPoolService;
  let workerId: string;

  beforeEach(() => {
    worker = new FixtureWorker();
  });
  afterEach(async () => {
    await pool.close();
    worker.stop();
  });

  async function start(settings: Partial<Record<SettingPath, number>>): Promise<void> {
    const address = `127.0.0.1:${await worker.start()}`;
    pool = makePool({ models: [modelSpec({ addresses: [address] })], settings });
    await pool.start();
    workerId = (await workerThat(pool, isReady)).id;
  }

  async function running(prompt: string) {
    const held = transcribe(prompt);
    const [lease] = pool.lease(workerId, 1);
    const before = worker.received.length;
    const call = pool.execute({ workerId, request: held, group: alone });
    void call.finished.then(() => lease!.release());
    await worker.arrivals(before + 1);
    return { key: held.key, id: held.id, call };
  }

  it('that a worker does not hear is repeated while the call lives, and stops the work in the end', async () => {
    worker.ignoreCancel = true;
    await start({ 'cancellation.rpc_timeout_ms': 20 });
    const { key, call } = await running(script.hold);
    await expect(pool.cancel(workerId, key, 'client')).resolves.toBe(false);
    while (worker.cancelled.length < 3) await once(worker, 'cancelled');
    worker.ignoreCancel = false;
    await call.finished;
    await expect(call.reply).rejects.toMatchObject({ code: 'request_cancelled' });
    expect(worker.holding).toEqual([]);
    expect(pool.workers()[0]!.slots).toMatchObject({ inUse: 0 });
  });

  it('leaves a model that was in use until its slot came back', async () => {
    await start({});
    const { key, call } = await running(script.hold);
    const sinceMs = pool.of('m')!.usedAtMs;
    await pool.cancel(workerId, key, 'client');
    await call.finished;
    await expect(call.reply).rejects.toMatchObject({ code: 'request_cancelled' });
    expect(pool.of('m')!.usedAtMs).toBeGreaterThan(sinceMs);
  });

  it('that a worker acknowledges is asked for once', async () => {
    await start({ 'cancellation.rpc_timeout_ms': 10_000 });
    const { key, id, call } = await running(script.hold);
    await expect(pool.cancel(workerId, key, 'client')).resolves.toBe(true);
    await call.finished;
    expect(worker.cancelled).toEqual([id]);
  });

  it.each([
    ['acknowledges', false],
    ['does not answer', true],
  ])(
    'that a worker %s without ending the call breaks it off: 8 of 8 slots are free again',
    async (_, ignored) => {
      worker.ignoreCancel = ignored;
      await start({
        'cancellation.rpc_timeout_ms': 20,
        'cancellation.reset_after_ms': 60,
      });
      const calls = await Promise.all(Array.from({ length: 8 }, () => running(script.deaf)));
      expect(pool.workers()[0]!.slots).toEqual({ total: 8, free: 0, inUse: 8 });
      await Promise.all(calls.map(({ key }) => pool.cancel(workerId, key, 'client')));
      await Promise.all(calls.map(({ call }) => call.finished));
      expect(pool.workers()[0]).toMatchObject({
        slots: { inUse: 0 },
        state: 'suspended',
        breaker: 'open',
        problem: expect.stringContaining('it did not end a cancelled call within 60 ms'),
      });
    },
  );
});
