import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { localToken, LOCAL_TOKEN_VARIABLE } from '@switchyard/worker-protocol/local-token.js';
import { type WorkerPoolService } from '../../../src/gateway/worker-pool/worker-pool.service.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { externalModel } from '../../support/external-model.js';
import {
  alone,
  isReady,
  makePool,
  modelSpec,
  type PoolOptions,
  transcribe,
  workerThat,
} from '../../support/pool-harness.js';

/** Short for tests; Node needs most of it to start. */
const START_MS = 4000;

describe('a worker in another language, run by its command', () => {
  let pool: WorkerPoolService;

  async function start(model: ModelSpec, settings: PoolOptions['settings'] = {}) {
    pool = makePool({
      models: [model],
      settings: { 'server.upload_limit_bytes': 26_214_400, ...settings },
    });
    await pool.start();
  }

  afterEach(() => pool.close());

  const ready = (after?: number) =>
    workerThat(pool, worker => isReady(worker) && worker.pid !== after);
  const answered = () =>
    pool.execute({ workerId: 'm-0', request: transcribe(), group: alone }).reply;

  it('serves, and is told port, model, device, and an environment without our own', async () => {
    process.env.SWITCHYARD_SECRET_OF_A_TEST = 'secret';
    const tell = ['SWITCHYARD_SECRET_OF_A_TEST', 'MINE', 'HOME'].flatMap(name => ['--tell', name]);
    const replicas = [{ device: 'cuda:1', env: { MINE: 'added' } }];
    await start(externalModel([...tell, '--device', '{device}'], { replicas }));
    const { health, device, address, restarts } = await ready();
    delete process.env.SWITCHYARD_SECRET_OF_A_TEST;
    expect(JSON.parse(health!.revision)).toEqual([null, 'added', process.env.HOME ?? null]);
    expect({ device, restarts }).toEqual({ device: 'cuda:1', restarts: 0 });
    expect(address).toMatch(/^127\.0\.0\.1:\d+$/);
    await expect(answered()).resolves.toMatchObject({
      kind: 'transcript',
      execution: { batchSize: 1 },
    });
  });

  it('finds the token of its gateway in its environment, which every call carries', async () => {
    await start(externalModel(['--tell', LOCAL_TOKEN_VARIABLE]));
    const { health } = await ready();
    expect(JSON.parse(health!.revision)).toEqual([localToken('m-0')]);
  });

  it('is probed when it writes a line, not only at the interval', async () => {
    const day = 86_400_000;
    await start(externalModel(['--fault', 'says-ready']), { 'workers.health_interval_ms': day });
    expect(await ready()).toMatchObject({ restarts: 0 });
  });

  it('that dies is started again, on a port of its own', async () => {
    await start(externalModel());
    const first = await ready();
    const call = pool.execute({
      workerId: 'm-0',
      request: transcribe('crash'),
      group: alone,
    });
    await expect(call.reply).rejects.toMatchObject({ code: 'worker_lost' });
    const next = await ready(first.pid);
    expect(next).toMatchObject({
      restarts: 1,
      lastExit: { code: 9 },
      problem: undefined,
    });
    await expect(answered()).resolves.toMatchObject({ kind: 'transcript' });
  });

  it.each([
    ['exit', 'its process ended with code 3: cannot load model.bin: no such file'],
    ['never-listens', /^not ready, .* 4000 ms \(.*\): .*ECONNREFUSED 127\.0\.0\.1:\d+/s],
    ['wrong-port', /^not ready, .* 4000 ms \(.*\): .*ECONNREFUSED 127\.0\.0\.1:\d+/s],
    ['wrong-model', /its Health reports model "another"; it must be "m"$/],
  ])('%s: it is started again with pauses, and its problem says why', async (fault, problem) => {
    await start(externalModel(['--fault', fault]), {
      'workers.start_timeout_ms': START_MS,
    });
    const view = await workerThat(pool, worker => worker.lastExit !== undefined);
    if (typeof problem === 'string') expect(view.problem).toBe(problem);
    else expect(view.problem).toMatch(problem);
    expect(pool.of('m')?.view()).toMatchObject({
      state: 'failed',
      reason: `m-0: ${view.problem}`,
    });
    expect(pool.offer('m')).toBeUndefined();
  });

  it('that reports that it is starting is left alone, up to workers.start_limit_ms', async () => {
    await start(externalModel(['--fault', 'never-ready']), {
      'workers.start_timeout_ms': START_MS,
      'workers.start_limit_ms': 3 * START_MS,
      'workers.health_interval_ms': 200,
    });
    const view = await workerThat(pool, worker => worker.lastExit !== undefined);
    expect(view.problem).toBe(
      `not ready within ${3 * START_MS} ms (workers.start_limit_ms): its Health reports that it is starting`,
    );
  });

  it('that reports for longer than workers.start_timeout_ms that it is starting serves then', async () => {
    await start(externalModel(['--fault', 'ready-late']), {
      'workers.start_timeout_ms': START_MS,
      'workers.health_interval_ms': 200,
    });
    expect(await ready()).toMatchObject({ restarts: 0, lastExit: undefined });
    await expect(answered()).resolves.toMatchObject({ kind: 'transcript' });
  });

  it.each([
    [
      'a missing program',
      ['/nonexistent/python', '{port}'],
      'cannot start /nonexistent/python: no such program (ENOENT)',
    ],
    ['a folder', ['/etc', '{port}'], 'cannot start /etc: it may not be executed (EACCES)'],
    [
      'a missing script',
      [process.execPath, '/nonexistent/worker.mjs', '{port}'],
      /^its process ended with code 1: /,
    ],
  ])('%s: its problem says so, and pauses grow', async (_, command, problem) => {
    await start(externalModel([], { command }), { 'workers.restart_max_ms': 10_000 });
    const view = await workerThat(
      pool,
      worker => worker.restarts >= 2 && worker.problem !== undefined,
    );
    if (typeof problem === 'string') expect(view.problem).toBe(problem);
    else expect(view.problem).toMatch(problem);
  });

  it('that forks leaves nobody behind, however it ends', async () => {
    const forked = async (after?: number) => {
      const { pid } = await ready(after);
      const group = await childrenOf(pid!);
      expect(group).toHaveLength(1);
      return { pid: pid!, child: group[0]! };
    };
    await start(externalModel(['--fault', 'forks']));
    const first = await forked();
    process.kill(first.pid, 'SIGKILL');
    const second = await forked(first.pid);
    await pool.close();
    await workersGone([first.child, second.child, second.pid]);
  });

  it('that floods its output serves, and its problem says how much was dropped', async () => {
    await start(externalModel(['--fault', 'flood']));
    await ready();
    await expect(answered()).resolves.toMatchObject({ kind: 'transcript' });
    const { state, problem } = await workerThat(pool, worker => worker.problem !== undefined);
    expect(state).toBe('ready');
    expect(problem).toMatch(
      /^it writes more than 32768 bytes of log a second: \d+ bytes were dropped$/,
    );
  });
});

describe('a worker in another language at an address', () => {
  it.each([
    [
      'a web server',
      () => createHttpServer((_, answer) => answer.end('hello')),
      /: 14 UNAVAILABLE: .*Protocol error/,
    ],
    ['a server that never answers', () => createServer(), / was not answered within 2000 ms$/],
  ])('is not there while %s has its port, and its problem says so', async (_, other, problem) => {
    const server = other().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const pool = makePool({
      models: [modelSpec({ id: 'theirs', engine: 'external', addresses: [address] })],
    });
    await pool.start();
    const view = await workerThat(pool, worker => worker.problem !== undefined);
    expect(view.problem).toMatch(problem);
    expect(pool.offer('theirs')).toBeUndefined();
    await pool.close();
    server.close();
  });

  it('is never started, and serves', async () => {
    const host = makePool({ models: [externalModel([], { id: 'theirs' })] });
    await host.start();
    const { address } = await workerThat(host, isReady);
    const pool = makePool({
      models: [modelSpec({ id: 'theirs', engine: 'external', addresses: [address!] })],
      settings: { 'server.upload_limit_bytes': 26_214_400 },
    });
    await pool.start();
    const { id, pid } = await workerThat(pool, isReady);
    expect({ id, pid }).toEqual({ id: `theirs@${address}`, pid: undefined });
    const reply = pool.execute({
      workerId: id,
      request: transcribe(),
      group: alone,
    }).reply;
    await expect(reply).resolves.toMatchObject({ kind: 'transcript' });
    await pool.close();
    await host.close();
  });
});

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.trim().split(' ').filter(Boolean).map(Number);
}

/** Killed processes of another parent are gone once the system has reaped them. */
async function workersGone(pids: readonly number[]): Promise<void> {
  for (const endMs = performance.now() + 10_000; performance.now() < endMs;) {
    if (!pids.some(isAlive)) return;
    await new Promise(resolve => setTimeout(resolve, 10));
  }
  throw new Error(`still alive: ${pids.filter(isAlive).join(', ')}`);
}
