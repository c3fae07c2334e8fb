import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type WorkerPoolService } from '../../../src/gateway/worker-pool/worker-pool.service.js';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import {
  alone,
  isReady,
  makePool,
  modelSpec,
  transcribe,
  workerThat,
} from '../../support/pool-harness.js';
import { aKey } from '../../support/requests.js';

describe('capacity of a pool of two workers, 8 and 4 slots', () => {
  let workers: FixtureWorker[];
  let ports: number[];
  let pool: WorkerPoolService;
  let large: string;
  let small: string;

  beforeEach(async () => {
    workers = [
      new FixtureWorker({ maxBatch: 4, maxConcurrent: 1 }),
      new FixtureWorker({ maxBatch: 2, maxConcurrent: 1 }),
    ];
    ports = await Promise.all(workers.map(worker => worker.start()));
    pool = makePool({
      models: [modelSpec({ addresses: ports.map(port => `127.0.0.1:${port}`) })],
    });
    await pool.start();
    [large, small] = [`m@127.0.0.1:${ports[0]}`, `m@127.0.0.1:${ports[1]}`];
    await workerThat(pool, worker => worker.id === large && isReady(worker));
    await workerThat(pool, worker => worker.id === small && isReady(worker));
  });

  afterEach(async () => {
    await pool.close();
    workers.forEach(worker => worker.stop());
  });

  const worker = (id: string) => pool.workers().find(view => view.id === id)!;

  it('offers max_batch x (max_concurrent + 1) slots, the worker with the largest free share first', () => {
    expect(pool.offer('m')).toMatchObject({
      workerId: large,
      free: 8,
      urgent: 12,
      idle: true,
      maxBatch: 4,
    });
    const leases = pool.lease(large, 5);
    expect(pool.offer('m')).toMatchObject({
      workerId: small,
      free: 4,
      urgent: 6,
      idle: true,
      maxBatch: 2,
    });
    pool.lease(small, 2);
    leases[0]?.release();
    leases[1]?.release();
    expect(pool.offer('m')).toMatchObject({
      workerId: large,
      free: 5,
      urgent: 9,
      idle: false,
      maxBatch: 4,
    });
  });

  it('offers REALTIME one group more when all slots are taken, then nothing, and says so when one comes back', () => {
    const grown: string[] = [];
    pool.capacity$.subscribe(model => grown.push(model));
    const leases = [...pool.lease(large, 8), ...pool.lease(small, 4)];
    expect(pool.offer('m')).toMatchObject({
      workerId: large,
      free: 0,
      urgent: 4,
      idle: false,
      maxBatch: 4,
    });
    expect(() => pool.lease(large, 1)).toThrow('1 slots wanted, 0 free of 8 + 4');
    const overdrawn = [...pool.lease(large, 4, 'urgent'), ...pool.lease(small, 2, 'urgent')];
    expect(worker(large).slots).toEqual({ total: 8, free: 0, inUse: 12 });
    expect(() => pool.lease(large, 1, 'urgent')).toThrow('1 slots wanted, 0 urgent of 8 + 4');
    expect(pool.offer('m')).toBeUndefined();
    overdrawn.forEach(lease => lease.release());
    expect(grown.splice(0)).toHaveLength(6);
    expect(worker(large).state).toBe('busy');
    leases[0]?.release();
    leases[0]?.release();
    expect(grown).toEqual(['m']);
    expect(pool.offer('m')).toMatchObject({ workerId: large, free: 1 });
  });

  it('knows which models are served at all, and by a ready worker', () => {
    expect([pool.of('m')?.view() !== undefined, pool.of('m')?.hasReady ?? false]).toEqual([
      true,
      true,
    ]);
    expect([
      pool.of('x')?.view() !== undefined,
      pool.of('x')?.hasReady ?? false,
      pool.offer('x'),
    ]).toEqual([false, false, undefined]);
  });

  it.each(['starting', 'draining'] as const)(
    'a worker that reports %s gets no work until it is ready again',
    async state => {
      workers[0]!.health = { ...workers[0]!.health, state };
      await workerThat(pool, view => view.id === large && view.state === state);
      expect(pool.offer('m')?.workerId).toBe(small);
      expect(worker(large).slots.total).toBe(0);
      workers[0]!.health = { ...workers[0]!.health, state: 'ready' };
      await workerThat(pool, view => view.id === large && isReady(view));
      expect(pool.offer('m')?.workerId).toBe(large);
    },
  );

  it('a worker whose standard check says NOT_SERVING gets no work', async () => {
    workers[0]!.serving = false;
    await workerThat(pool, view => view.id === large && view.state === 'draining');
    expect(pool.offer('m')?.workerId).toBe(small);
  });

  it('slots of a lost remote worker vanish; leases that are out still count when it is back', async () => {
    const leases = pool.lease(large, 3);
    const call = pool.execute({
      workerId: large,
      request: transcribe(script.hold),
      group: alone,
    });
    await workers[0]!.arrivals(1);
    workers[0]!.stop();
    await expect(call.reply).rejects.toMatchObject({ code: 'worker_lost' });
    await workerThat(pool, view => view.id === large && view.state === 'lost');
    expect(worker(large).slots).toEqual({ total: 0, free: 0, inUse: 3 });
    leases[0]?.release();

    workers[0] = new FixtureWorker();
    await workers[0].start(ports[0]);
    await workerThat(pool, view => view.id === large && isReady(view));
    expect(worker(large).slots).toEqual({ total: 8, free: 6, inUse: 2 });
    leases.forEach(lease => lease.release());
    expect(worker(large).slots).toEqual({ total: 8, free: 8, inUse: 0 });
  });

  it('neither exceeds nor leaks slots over 400 calls of every outcome', async () => {
    const outcomes = ['', script.fail('engine_failed'), script.fail('invalid_audio'), script.hold];
    const running: Promise<void>[] = [];
    let most = 0;
    for (let sent = 0; sent < 400;) {
      const offer = pool.offer('m');
      if (!offer?.free) {
        await new Promise<void>(resolve => {
          const wait = pool.capacity$.subscribe(() => (wait.unsubscribe(), resolve()));
        });
        continue;
      }
      const [lease] = pool.lease(offer.workerId, 1);
      const request = transcribe(outcomes[sent++ % outcomes.length]);
      const call = pool.execute({ workerId: offer.workerId, request, group: alone });
      if ((request.payload as { prompt: string }).prompt === script.hold) {
        void pool.cancel(offer.workerId, aKey(request.id), 'client');
      }
      running.push(call.finished.then(() => lease?.release()));
      most = Math.max(most, ...workers.map(({ holding }) => holding.length));
    }
    await Promise.all(running);
    expect(most).toBeLessThanOrEqual(8);
    expect(worker(large).slots).toEqual({ total: 8, free: 8, inUse: 0 });
    expect(worker(small).slots).toEqual({ total: 4, free: 4, inUse: 0 });
  });
});
