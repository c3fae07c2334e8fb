import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type AdminSettingsController } from '../../../src/gateway/admin/settings.controller.js';
import { type AdminHistoryController } from '../../../src/gateway/admin/status/history.controller.js';
import { RequestHistoryService } from '../../../src/gateway/admin/status/request-history.service.js';
import { type AdminStatusController } from '../../../src/gateway/admin/status/status.controller.js';
import { SETTING_PATHS } from '../../../src/platform/config/settings.js';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import { formOf } from '../../support/form-of.js';
import { errorOf, GatewayRig } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';

describe('GET /admin/v1/status and /admin/v1/history', () => {
  let rig: GatewayRig;
  const machine = new FixtureWorker({ model: 'stt', maxBatch: 1, maxConcurrent: 1 });

  beforeAll(async () => {
    rig = await GatewayRig.start({
      models: [
        sttModel({
          capabilities: ['transcribe', 'prompt'],
          addresses: [`127.0.0.1:${await machine.start()}`],
        }),
        sttModel({ id: 'asleep', aliases: [], replicas: 1, autostart: 'on_request' }),
      ],
    });
    await rig.ready('stt');
  });
  afterEach(() => machine.releaseAll());
  afterAll(async () => {
    await rig.close();
    machine.stop();
  });

  const status = async () =>
    (await rig.json('/admin/v1/status')) as Awaited<ReturnType<AdminStatusController['find']>>;
  const model = async (id = 'stt') => (await status()).models.find(found => found.id === id)!;
  const endStep = () => rig.app.get(RequestHistoryService, { strict: false }).endStep();

  const transcribe = (prompt = '') =>
    rig.post('/v1/audio/transcriptions', formOf({ model: 'stt', prompt }, Buffer.alloc(100)));

  it('describes the gateway, its models, what it depends on, and that nothing limits it', async () => {
    while ((await status()).dependencies.some(({ state }) => state === 'unknown'));
    const { gateway, dependencies, ...rest } = await status();
    expect(gateway).toEqual({
      ...{
        id: expect.stringMatching(/^gw_/),
        version: expect.stringMatching(/^\d+\./),
        draining: false,
      },
      ...{
        started_at: expect.any(Number),
        uptime_s: expect.any(Number),
        keys: 'not_required',
      },
    });
    expect(dependencies).toEqual([
      { name: 'database', state: 'up', text: '' },
      { name: 'blobs', state: 'up', text: '' },
      { name: 'disk', state: 'up', text: expect.stringMatching(/GiB free\.$/) },
    ]);
    expect(rest).toMatchObject({
      object: 'status',
      bottleneck: null,
      batches: { running: 0, waiting: 0 },
    });
    expect(await model('asleep')).toMatchObject({
      state: 'unloaded',
      workers: { ready: 0, total: 1, drained: 0 },
    });
    expect(await model()).toMatchObject({
      ...{
        state: 'loaded',
        in_flight: 0,
        oldest_wait_ms: 0,
        slots: { total: 2, free: 2 },
      },
      waiting: { realtime: 0, batch: 0, aged: 0 },
    });
  });

  it('counts what waits and runs, and names full slots or a growing queue', async () => {
    const calls = [1, 2, 3, 4].map(() => transcribe(script.hold));
    while ((await model()).waiting.batch !== 2);
    const { bottleneck } = await status();
    expect(bottleneck).toMatchObject({
      kind: expect.stringMatching(/^(slots_full|queue_grows)$/),
      model: 'stt',
    });
    expect(await model()).toMatchObject({ in_flight: 2, slots: { total: 2, free: 0 } });
    expect((await model()).rates.arrived_per_s).toBeGreaterThan(0);
    const answers = Promise.all(calls);
    let answered = false;
    void answers.then(() => (answered = true));
    for (; !answered; await status()) machine.releaseAll();
    expect((await answers).map(call => call.status)).toEqual([200, 200, 200, 200]);
  });

  it('keeps steps of the last hour, by model', async () => {
    await endStep();
    expect((await transcribe()).status).toBe(200);
    expect((await transcribe(script.fail('engine_failed'))).status).toBe(500);
    await endStep();
    const history = (await rig.json('/admin/v1/history?minutes=1')) as ReturnType<
      AdminHistoryController['find']
    >;
    const last = history.points.at(-1)!;
    expect(history).toMatchObject({
      object: 'history',
      step_s: 10,
      from: history.points[0]!.at - 10,
    });
    expect(Object.keys(last.models)).toEqual(['stt']);
    expect(last.models.stt).toMatchObject({
      ...{
        arrived: 2,
        completed: 1,
        failed: 1,
        cancelled: 0,
        refused: 0,
        waiting: 0,
        in_flight: 0,
      },
      ...{
        oldest_wait_ms: 0,
        wait_p50_ms: expect.any(Number),
        wait_p95_ms: expect.any(Number),
      },
    });
    const other = (await rig.json('/admin/v1/history?model=asleep')) as ReturnType<
      AdminHistoryController['find']
    >;
    expect(other.points.map(({ models }) => models)).toEqual(other.points.map(() => ({})));
  });

  it.each(['minutes=0', 'minutes=61', 'minutes=x', 'minute=5'])(
    'refuses history?%s with 400',
    async query => {
      const found = await errorOf(fetch(`${rig.url}/admin/v1/history?${query}`));
      expect(found).toMatchObject({
        status: 400,
        code: 'invalid_value',
        param: query.split('=')[0],
      });
    },
  );

  it('answers /healthz and /readyz as /health/live and /health/ready', async () => {
    for (const [alias, path] of [
      ['/healthz', '/health/live'],
      ['/readyz', '/health/ready'],
    ] as const) {
      const [answer, original] = [await fetch(rig.url + alias), await fetch(rig.url + path)];
      expect([answer.status, await answer.json()]).toEqual([
        original.status,
        await original.json(),
      ]);
      expect(answer.status).toBe(200);
    }
  });

  it('lists every setting with its value and source, and no secret', async () => {
    const { data } = (await rig.json('/admin/v1/settings')) as ReturnType<
      AdminSettingsController['list']
    >;
    expect(data.map(({ name }) => name)).toEqual(SETTING_PATHS);
    const found = (name: string) => data.find(setting => setting.name === name);
    expect(found('queue.max_requests')).toMatchObject({
      ...{
        source: 'default',
        value: 10_000,
        default: 10_000,
        variable: 'SWITCHYARD_QUEUE_MAX_REQUESTS',
        secret: false,
        advanced: false,
      },
    });
    expect(found('workers.restart_min_ms')).toMatchObject({
      advanced: true,
      source: 'argument',
      value: 10,
    });
    expect(found('database.url')).toMatchObject({
      secret: true,
      value: null,
      set: false,
    });
  });
});
