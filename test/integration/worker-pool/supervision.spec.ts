import { afterEach, describe, expect, it } from '@jest/globals';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { type WorkerPoolService } from '../../../src/gateway/worker-pool/worker-pool.service.js';
import { script } from '../../support/fixture-worker.js';
import {
  alone,
  isReady,
  makePool,
  modelSpec,
  type PoolOptions,
  transcribe,
  workerThat,
} from '../../support/pool-harness.js';

describe('supervised workers', () => {
  let pool: WorkerPoolService;
  const pids = new Set<number>();

  async function start(
    options: Partial<PoolOptions> & {
      options?: Record<string, unknown>;
      replicas?: number;
    } = {},
  ) {
    const model = modelSpec({
      replicas: options.replicas ?? 1,
      options: options.options ?? {},
    });
    pool = makePool({ models: [model], ...options });
    await pool.start();
  }

  async function ready(after?: number) {
    const view = await workerThat(pool, worker => isReady(worker) && worker.pid !== after);
    pids.add(view.pid!);
    return { id: view.id, pid: view.pid!, view };
  }

  afterEach(async () => {
    await pool.close();
    expect([...pids].filter(isAlive)).toEqual([]);
    pids.clear();
  });

  const execute = (workerId: string, prompt?: string) =>
    pool.execute({ workerId, request: transcribe(prompt), group: { id: 'g', size: 8 } });

  it('are started as processes and answer', async () => {
    await start();
    const { id, pid, view } = await ready();
    expect(id).toBe('m-0');
    expect(isAlive(pid)).toBe(true);
    expect(view).toMatchObject({
      state: 'ready',
      restarts: 0,
      slots: { total: 8, free: 8, inUse: 0 },
    });
    expect(view.health).toMatchObject({
      engine: 'fixture',
      maxMessageBytes: expect.any(Number),
    });
    await expect(execute(id).reply).resolves.toMatchObject({ kind: 'transcript' });
  });

  it('kill -9 with 8 in flight: 8 died together, none hanging, a new process takes work', async () => {
    await start();
    const { id, pid } = await ready();
    const leases = pool.lease(id, 8);
    const restarted: string[] = [];
    pool.activity$.subscribe(
      activity => activity.type === 'restarted' && restarted.push(activity.worker),
    );
    const calls = leases.map(() => execute(id, script.hold));
    const answered = execute(id);
    await answered.reply;
    process.kill(pid, 'SIGKILL');
    const losses = await Promise.all(
      calls.map(({ reply }) => reply.catch((error: unknown) => error)),
    );
    const loss = { code: 'worker_lost', kind: 'died', together: 8 };
    expect(losses).toEqual(Array(8).fill(expect.objectContaining(loss)));
    await Promise.all(calls.map(({ finished }) => finished));

    const next = await ready(pid);
    expect(next.id).toBe(id);
    expect(next.view).toMatchObject({
      restarts: 1,
      lastExit: { code: null, signal: 'SIGKILL' },
    });
    leases.forEach(lease => lease.release());
    expect((await ready()).view.slots).toEqual({ total: 8, free: 8, inUse: 0 });
    expect(restarted).toEqual([id]);
    await expect(execute(id).reply).resolves.toMatchObject({ kind: 'transcript' });
  });

  it('one that hangs (SIGSTOP) is killed and replaced; its call is abandoned, which is no death', async () => {
    await start({
      settings: { 'workers.health_timeout_ms': 500, 'workers.health_failures': 2 },
    });
    const { id, pid } = await ready();
    const call = execute(id, script.hold);
    process.kill(pid, 'SIGSTOP');
    await expect(call.reply).rejects.toMatchObject({
      code: 'worker_lost',
      kind: 'abandoned',
    });
    const next = await ready(pid);
    expect(next.view.lastExit).toMatchObject({
      signal: 'SIGKILL',
      reason: '2 health probes failed in a row',
    });
  });

  it('20,000 lines on stderr do not freeze one; the last 50 are kept', async () => {
    await start();
    const { id, pid } = await ready();
    await expect(execute(id, script.flood(20_000)).reply).resolves.toMatchObject({
      kind: 'transcript',
    });
    process.kill(pid, 'SIGKILL');
    // The pipe may deliver its last words after the exit.
    const last = 'native library says 19999';
    const view = await workerThat(pool, worker => worker.lastExit?.lines.at(-1) === last);
    expect(view.lastExit?.lines).toHaveLength(50);
  });

  it('one that cannot start is tried again and again, and says why', async () => {
    await start({ options: { exitCode: 3 } });
    const view = await workerThat(
      pool,
      worker => worker.restarts >= 3 && worker.lastExit !== undefined,
    );
    expect(view).toMatchObject({
      slots: { total: 0 },
      lastExit: { code: 3, signal: null, reason: 'model.bin: no such file' },
    });
    expect(view.lastExit?.lines).toContain('cannot load the model: no such file');
    expect(pool.offer('m')).toBeUndefined();
  });

  it('one whose program is missing is tried again, and says why', async () => {
    await start({ launch: { command: '/nonexistent/node' } });
    const view = await workerThat(
      pool,
      worker => worker.restarts >= 2 && worker.lastExit !== undefined,
    );
    expect(view.lastExit?.reason).toContain('ENOENT');
  });

  it('one that is not ready in time is killed and started again', async () => {
    await start({
      options: { silent: true },
      settings: { 'workers.start_timeout_ms': 300 },
    });
    const view = await workerThat(
      pool,
      worker => worker.restarts >= 1 && worker.lastExit !== undefined,
    );
    expect(view.lastExit).toMatchObject({
      signal: 'SIGKILL',
      reason: expect.stringMatching(
        /^not ready, and no progress for \d+ ms \(workers\.start_timeout_ms\)$/,
      ),
    });
  });

  it('closing kills one that is deaf to SIGTERM, even stopped', async () => {
    await start({ options: { stubborn: true }, launch: { stopGraceMs: 50 } });
    const { pid } = await ready();
    process.kill(pid, 'SIGSTOP');
    await pool.close();
    expect(isAlive(pid)).toBe(false);
    expect(pool.workers()[0]?.lastExit).toMatchObject({
      signal: 'SIGKILL',
      reason: expect.stringContaining('SIGTERM'),
    });
  });

  it('closing between two starts starts nothing more', async () => {
    await start({
      options: { exitCode: 1 },
      settings: { 'workers.restart_min_ms': 60_000, 'workers.restart_max_ms': 60_000 },
    });
    await workerThat(pool, worker => worker.lastExit !== undefined);
    await pool.close();
    expect(pool.workers()[0]).toMatchObject({ restarts: 0, state: 'draining' });
  });
});

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
