import { afterEach, describe, expect, it } from '@jest/globals';
import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { type SettingPath } from '../../../src/platform/config/settings.js';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import { formOf } from '../../support/form-of.js';
import { workerThat } from '../../support/pool-harness.js';
import { errorOf, expectError, GatewayRig } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';

interface Listed {
  readonly id: string;
  readonly state: string;
  readonly running: number;
  readonly last_used: number;
}

describe('loading and unloading over HTTP', () => {
  let rig: GatewayRig;
  let machine: FixtureWorker | undefined;
  afterEach(async () => {
    machine?.releaseAll();
    await rig.close();
    machine?.stop();
    machine = undefined;
  });

  async function start(
    model: Partial<ModelSpec>,
    settings: Partial<Record<SettingPath, number>> = {},
  ) {
    const capabilities = ['transcribe', 'prompt'];
    rig = await GatewayRig.start({
      models: [sttModel({ capabilities, ...model })],
      settings,
    });
  }

  /**
   * One slot, one more prepared ahead, none overdrawn by BATCH: the third request waits.
   */
  async function startRemote(model: Partial<ModelSpec> = {}) {
    machine = new FixtureWorker({ model: 'stt', maxBatch: 1, maxConcurrent: 1 });
    await start({ addresses: [`127.0.0.1:${await machine.start()}`], ...model });
    if (model.autostart !== 'on_request') await rig.ready('stt');
    return machine;
  }

  const transcribe = (prompt = '') =>
    rig.post('/v1/audio/transcriptions', formOf({ model: 'whisper-1', prompt }, Buffer.alloc(100)));
  const models = async () => ((await rig.json('/admin/v1/models')) as { data: Listed[] }).data;
  const turn = (way: 'load' | 'unload', id = 'stt') =>
    rig.post(`/admin/v1/models/${id}/${way}`, {});
  const stateOnOffer = async () =>
    ((await rig.json('/v1/models/whisper-1')) as { state: string }).state;
  const untilUnloaded = () => workerThat(rig.pool, ({ state }) => state === 'stopped');

  it('unload: the running finish, the waiting and the new get 503 model_unloaded; load: served again', async () => {
    const worker = await startRemote();
    const running = [transcribe(script.hold), transcribe(script.hold)];
    await worker.arrivals(2);
    const waiting = transcribe();
    while (Number(await rig.metric('scheduler_queue_depth{priority="batch",model="stt"}')) !== 1);

    expect(await (await turn('unload')).json()).toMatchObject({
      state: 'unloading',
      running: 2,
    });
    const refused = { status: 503, code: 'model_unloaded' };
    await expectError(waiting, refused);
    const late = await errorOf(transcribe());
    expect(late).toMatchObject(refused);
    expect(late.headers.get('retry-after')).toBe('30');

    worker.releaseAll();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
    await untilUnloaded();
    expect([await stateOnOffer(), (await models())[0]?.state]).toEqual(['unloaded', 'unloaded']);

    expect((await turn('load')).status).toBe(200);
    expect((await transcribe()).status).toBe(200);
    expect(await stateOnOffer()).toBe('loaded');
  });

  it('unload of an on_request model: what waits starts it again and is served', async () => {
    const worker = await startRemote({ autostart: 'on_request' });
    const running = [transcribe(script.hold), transcribe(script.hold)];
    await worker.arrivals(2);
    const waiting = transcribe();
    await turn('unload');
    worker.releaseAll();
    expect((await Promise.all([...running, waiting])).map(({ status }) => status)).toEqual([
      200, 200, 200,
    ]);
    expect(await stateOnOffer()).toBe('loaded');
  });

  it('autostart on_request: the first request waits for its process; the gateway is ready before', async () => {
    await start({ replicas: 1, autostart: 'on_request' });
    expect((await fetch(`${rig.url}/health/ready`)).status).toBe(200);
    expect(await stateOnOffer()).toBe('unloaded');
    expect((await transcribe()).status).toBe(200);
    expect(await stateOnOffer()).toBe('loaded');
  });

  it('autostart on_request: 503 no_worker at the queue deadline when the process does not come up', async () => {
    await start(
      { replicas: 1, autostart: 'on_request', options: { silent: true } },
      { 'queue.timeout_ms': 300 },
    );
    await expectError(transcribe(), {
      status: 503,
      code: 'no_worker',
    });
  });

  it('idle_unload_s: gone after a second without work, back with the next request', async () => {
    await start({ replicas: 1, idleUnloadS: 1 });
    expect((await transcribe()).status).toBe(200);
    await untilUnloaded();
    expect((await models())[0]?.last_used).toBeLessThanOrEqual(Date.now() / 1000);
    expect((await transcribe()).status).toBe(200);
  });

  it('of a model that does not exist is 404 model_not_found', async () => {
    await start({ replicas: 1 });
    for (const way of ['load', 'unload'] as const) {
      await expectError(turn(way, 'nobody'), {
        status: 404,
        code: 'model_not_found',
      });
    }
  });
});
