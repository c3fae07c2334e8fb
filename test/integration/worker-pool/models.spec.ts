import { afterEach, describe, expect, it } from '@jest/globals';
import { isAlive } from '@switchyard/engine-api/process/is-alive.js';
import { type WorkerPoolService } from '../../../src/gateway/worker-pool/worker-pool.service.js';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
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

describe('the workers of a model', () => {
  let pool: WorkerPoolService;
  afterEach(() => pool.close());

  async function start(model: Partial<ModelSpec>) {
    pool = makePool({ models: [modelSpec(model)] });
    await pool.start();
  }

  const state = () => pool.of('m')?.view().state;
  const ready = (id = 'm-0') => workerThat(pool, worker => worker.id === id && isReady(worker));

  it('start at boot: loading, then loaded', async () => {
    await start({ replicas: 1 });
    expect(state()).toBe('loading');
    await ready();
    expect(pool.of('m')?.view()).toMatchObject({
      state: 'loaded',
      autostart: 'always',
      running: 0,
    });
  });

  it('on request: nothing runs until something waits for the model', async () => {
    await start({ replicas: 1, autostart: 'on_request' });
    expect(pool.workers()).toMatchObject([{ id: 'm-0', state: 'stopped' }]);
    expect(state()).toBe('unloaded');
    expect(pool.offer('m')).toBeUndefined();
    expect(state()).toBe('loading');
    await ready();
    expect(pool.offer('m')?.workerId).toBe('m-0');
  });

  it('unload when what they have has ended, and no process is left; they come back with the next request', async () => {
    await start({ replicas: 1 });
    const { id, pid } = await ready();
    const request = transcribe(script.hold);
    const [lease] = pool.lease(id, 1);
    const call = pool.execute({ workerId: id, request, group: alone });
    const unloaded = pool.of('m')?.unload(false);
    expect(pool.offer('m')).toBeUndefined();
    expect(pool.of('m')?.view()).toMatchObject({
      state: 'unloading',
      running: 1,
      idleMs: 0,
    });
    expect(isAlive(pid!)).toBe(true);
    call.reply.catch(() => undefined);
    // The worker may not have the call yet, so the cancel is repeated until it does.
    await pool.cancel(id, aKey(request.id), 'client');
    await call.finished;
    lease?.release();
    await unloaded;
    expect(isAlive(pid!)).toBe(false);
    expect([state(), pool.workers()]).toMatchObject(['unloaded', [{ id, state: 'stopped' }]]);
    expect(pool.offer('m')).toBeUndefined();
    expect((await ready()).pid).not.toBe(pid);
  });

  it('unloaded by an operator stay away whatever waits, until they are loaded', async () => {
    await start({ replicas: 1 });
    await ready();
    await pool.of('m')?.unload(true);
    expect([pool.offer('m'), state(), pool.of('m')?.isHeld]).toEqual([undefined, 'unloaded', true]);
    pool.of('m')?.load();
    expect([state(), pool.of('m')?.isHeld]).toEqual(['loading', false]);
    await ready();
  });

  it('loaded again during an unload start anew when it has ended', async () => {
    await start({ replicas: 1 });
    const { pid } = await ready();
    const unloaded = pool.of('m')?.unload(true);
    pool.of('m')?.load();
    await unloaded;
    expect((await ready()).pid).not.toBe(pid);
  });

  it('that hang with their last request are killed, so that the unload ends', async () => {
    pool = makePool({
      models: [modelSpec({ replicas: 1 })],
      settings: { 'workers.health_timeout_ms': 200, 'workers.health_failures': 2 },
    });
    await pool.start();
    const { id, pid } = await ready();
    const [lease] = pool.lease(id, 1);
    const call = pool.execute({
      workerId: id,
      request: transcribe(script.hold),
      group: alone,
    });
    call.reply.catch(() => undefined);
    process.kill(pid!, 'SIGSTOP');
    await pool.of('m')?.unload(true);
    await call.finished;
    lease?.release();
    expect([state(), isAlive(pid!)]).toEqual(['unloaded', false]);
  });

  it('that end during an unload end it, although a request still has a slot of theirs', async () => {
    await start({ replicas: 1 });
    const { id, pid } = await ready();
    const [lease] = pool.lease(id, 1);
    const unloaded = pool.of('m')?.unload(true);
    process.kill(pid!, 'SIGKILL');
    await unloaded;
    expect(state()).toBe('unloaded');
    lease?.release();
  });

  it('elsewhere are left alone by an unload: it only lets go of them', async () => {
    const machine = new FixtureWorker();
    const address = `127.0.0.1:${await machine.start()}`;
    await start({ addresses: [address] });
    await ready(`m@${address}`);
    await pool.of('m')?.unload(true);
    pool.of('m')?.load();
    await ready(`m@${address}`);
    machine.stop();
  });

  it('that cannot start make the model failed, with the reason', async () => {
    await start({ replicas: 1, options: { exitCode: 3 } });
    await workerThat(pool, worker => worker.lastExit !== undefined && worker.state === 'lost');
    expect(pool.of('m')?.view()).toMatchObject({
      state: 'failed',
      reason: 'm-0: model.bin: no such file',
    });
  });

  it('have a device and an environment each, and little of the gateway’s own', async () => {
    process.env.SWITCHYARD_TEST_SECRET = 'gateway only';
    await start({
      replicas: [
        { device: 'cuda:0', env: { WHICH: 'first' } },
        { device: 'cuda:1', env: { WHICH: 'second' } },
      ],
      options: { tell: ['WHICH', 'SWITCHYARD_TEST_SECRET', 'NODE_OPTIONS', 'PATH'] },
    });
    const [first, second] = [await ready('m-0'), await ready('m-1')];
    delete process.env.SWITCHYARD_TEST_SECRET;
    expect([first.device, second.device]).toEqual(['cuda:0', 'cuda:1']);
    const revision = (which: string) => JSON.stringify([which, null, null, process.env.PATH]);
    expect([first.health?.revision, second.health?.revision]).toEqual([
      revision('first'),
      revision('second'),
    ]);
  });
});
