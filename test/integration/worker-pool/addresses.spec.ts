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

/** Two machines on one port: 127.0.0.1 and 127.0.0.2 are both this one. */
describe('a host name in addresses', () => {
  let machines: FixtureWorker[];
  let pool: WorkerPoolService;
  let records: string[];
  let port: number;
  let asked = 0;

  beforeEach(async () => {
    machines = [new FixtureWorker(), new FixtureWorker()];
    port = await machines[0]!.start(0, '127.0.0.1');
    await machines[1]!.start(port, '127.0.0.2');
    records = ['127.0.0.1'];
    pool = makePool({
      models: [modelSpec({ addresses: [`gpu.test:${port}`] })],
      settings: { 'workers.dns_refresh_ms': 100 },
      resolve: () => {
        asked += 1;
        return Promise.resolve(records);
      },
    });
    await pool.start();
  });

  afterEach(async () => {
    await pool.close();
    machines.forEach(machine => machine.stop());
  });

  const idOf = (ip: string) => `m@${ip}:${port}`;
  const ready = (ip: string) =>
    workerThat(pool, worker => worker.id === idOf(ip) && isReady(worker));
  const ids = () => pool.workers().map(({ id }) => id);

  it('is a worker for each record, new ones as they appear', async () => {
    await ready('127.0.0.1');
    expect(ids()).toEqual([idOf('127.0.0.1')]);
    records = ['127.0.0.1', '127.0.0.2'];
    await ready('127.0.0.2');
    expect(ids()).toEqual([idOf('127.0.0.1'), idOf('127.0.0.2')]);
  });

  it('loses the worker of a record that is gone, after the call it had', async () => {
    const { id } = await ready('127.0.0.1');
    const request = transcribe(script.hold);
    const [lease] = pool.lease(id, 1);
    const call = pool.execute({ workerId: id, request, group: alone });
    await machines[0]!.arrivals(1);
    records = ['127.0.0.2'];
    await workerThat(pool, worker => worker.id === id && worker.state === 'draining');
    await ready('127.0.0.2');
    expect(pool.offer('m')?.workerId).toBe(idOf('127.0.0.2'));

    machines[0]!.release(request.id);
    await expect(call.reply).resolves.toMatchObject({ kind: 'transcript' });
    lease?.release();
    await workerThat(pool, () => !ids().includes(id));

    records = ['127.0.0.1', '127.0.0.2'];
    await ready('127.0.0.1');
  });
});
