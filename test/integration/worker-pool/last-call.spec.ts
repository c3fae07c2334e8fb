import { expect, it } from '@jest/globals';
import { type WorkerPoolService } from '../../../src/gateway/worker-pool/worker-pool.service.js';
import { script } from '../../support/fixture-worker.js';
import {
  alone,
  isReady,
  makePool,
  modelSpec,
  transcribe,
  workerThat,
} from '../../support/pool-harness.js';

it.each<[string, (pool: WorkerPoolService, id: string) => unknown]>([
  ['is restarted', (pool, id) => pool.order(id, 'restart')],
  ['is stopped', pool => pool.of('m')!.retire()],
])('a worker that %s lets its last call end first', async (_, end) => {
  const pool = makePool({ models: [modelSpec({ replicas: 1 })] });
  await pool.start();
  const { id, pid } = await workerThat(pool, isReady);
  const [lease] = pool.lease(id, 1);
  const request = transcribe(script.hold);
  const call = pool.execute({ workerId: id, request, group: alone });
  const reply = call.reply.catch((error: unknown) => error);
  await workerThat(pool, ({ slots }) => slots.inUse === 1);
  const ended = end(pool, id);
  await workerThat(pool, ({ state }) => state === 'draining');
  await pool.cancel(id, request.key, 'client');
  expect(await reply).toMatchObject({ code: 'request_cancelled' });
  await call.finished;
  lease!.release();
  await ended;
  await workerThat(pool, () => pool.workers()[0]?.pid !== pid);
});
