import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type AdminLogsController } from '../../../src/gateway/admin/logs.controller.js';
import { type WorkerView } from '../../../src/gateway/worker-pool/worker-view.js';
import { externalModel } from '../../support/external-model.js';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import { formOf } from '../../support/form-of.js';
import { isReady, workerThat } from '../../support/pool-harness.js';
import { errorOf, expectError, GatewayRig } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';

interface Listed {
  readonly id: string;
  readonly state: string;
  readonly drained: boolean;
}

const capabilities = ['transcribe', 'prompt'] as const;

describe('POST /admin/v1/workers/{id}/drain, resume and restart', () => {
  let rig: GatewayRig;
  const machines = [1, 2].map(
    () => new FixtureWorker({ model: 'stt', maxBatch: 1, maxConcurrent: 1 }),
  );
  const [first, second] = machines as [FixtureWorker, FixtureWorker];
  let ids: string[];

  beforeAll(async () => {
    const addresses = await Promise.all(
      machines.map(async machine => `127.0.0.1:${await machine.start()}`),
    );
    ids = addresses.map(address => `stt@${address}`);
    rig = await GatewayRig.start({
      models: [
        sttModel({ capabilities: [...capabilities], addresses }),
        sttModel({
          id: 'local',
          aliases: [],
          capabilities: [...capabilities],
          replicas: 1,
        }),
        externalModel([], { id: 'script', aliases: [] }),
      ],
      settings: {
        'server.upload_limit_bytes': 25 * 1024 * 1024,
        'logging.level': 'info',
      },
    });
    await Promise.all([...ids, 'local-0', 'script-0'].map(id => worker(id, isReady)));
  });

  afterAll(async () => {
    for (const machine of machines) machine.releaseAll();
    await rig.close();
    for (const machine of machines) machine.stop();
  });

  afterEach(async () => {
    for (const machine of machines) machine.releaseAll();
    for (const id of ids) await order(id, 'resume');
    await Promise.all(ids.map(id => worker(id, ({ state }) => state === 'ready')));
  });

  const worker = (id: string, meets: (view: WorkerView) => boolean = () => true) =>
    workerThat(rig.pool, view => view.id === id && meets(view));

  const order = (id: string, what: 'drain' | 'resume' | 'restart') =>
    rig.post(`/admin/v1/workers/${encodeURIComponent(id)}/${what}`, {});

  const transcribe = (prompt = '', model = 'stt') =>
    rig.post('/v1/audio/transcriptions', formOf({ model, prompt }, Buffer.alloc(100)));

  const status = async (request: Promise<Response>) => (await request).status;
  const queued = () => rig.metric('scheduler_queue_depth{priority="batch",model="stt"}');

  it('drain: what runs finishes, nothing new is sent; resume: it serves again', async () => {
    const [drained] = ids as [string, string];
    const running = transcribe(script.hold);
    await Promise.race(machines.map(machine => machine.arrivals(1)));
    const [busy, other] = first.received.length > 0 ? [first, second] : [second, first];
    const id = ids[machines.indexOf(busy)] ?? drained;

    const answer = (await (await order(id, 'drain')).json()) as Listed;
    expect(answer).toMatchObject({ id, state: 'draining', drained: true });
    const before = busy.received.length;
    for (let count = 0; count < 6; count++) expect(await status(transcribe())).toBe(200);
    expect(busy.received.length).toBe(before);
    expect(other.received.length).toBeGreaterThanOrEqual(6);
    busy.releaseAll();
    expect(await status(running)).toBe(200);
    expect((await worker(id)).state).toBe('draining');

    await order(id, 'resume');
    expect(await worker(id, ({ state }) => state === 'ready')).toMatchObject({
      drained: false,
    });
  });

  it('all drained: requests stay queued, the model says why, and a resume sends them', async () => {
    for (const id of ids) await order(id, 'drain');
    const waiting = transcribe();
    while ((await queued()) !== 1);
    const models = (await rig.json('/admin/v1/models')) as {
      data: { id: string; state: string; reason: string }[];
    };
    expect(models.data.find(({ id }) => id === 'stt')).toMatchObject({
      state: 'failed',
      reason: 'all of its workers are drained',
    });
    expect(await rig.json('/admin/v1/status')).toMatchObject({
      bottleneck: {
        kind: 'no_worker',
        model: 'stt',
        text: 'stt: all of its workers are drained; 1 request waits. Resume one of them.',
      },
    });
    await order(ids[0]!, 'resume');
    expect(await status(waiting)).toBe(200);
  });

  it('stays drained when its connection is replaced and when its model is loaded again', async () => {
    const [id] = ids as [string];
    await order(id, 'drain');
    first.stop();
    await worker(id, ({ problem }) => problem !== undefined);
    await first.start(Number(id.split(':').at(-1)));
    await worker(id, ({ state, problem }) => state === 'draining' && problem === undefined);
    await rig.post('/admin/v1/models/stt/unload', {});
    await worker(id, ({ state }) => state === 'stopped');
    await rig.post('/admin/v1/models/stt/load', {});
    await worker(ids[1]!, isReady);
    expect(await worker(id, ({ state }) => state === 'draining')).toMatchObject({
      drained: true,
    });
  });

  it.each(['local', 'script'])(
    'restart replaces the process of %s once nothing runs, and it serves again',
    async model => {
      const id = `${model}-0`;
      const { pid } = await worker(id, isReady);
      const running = transcribe(model === 'local' ? script.hold : 'sleep 1500', model);
      await worker(id, ({ slots }) => slots.inUse === 1);
      expect(await (await order(id, 'restart')).json()).toMatchObject({
        id,
        state: 'draining',
        drained: true,
      });
      const late = transcribe('', model);
      expect((await worker(id)).pid).toBe(pid);
      if (model === 'local')
        await rig.post(`/admin/v1/requests/cancel`, { model, state: 'running' });
      expect(await status(running)).toBe(model === 'local' ? 499 : 200);
      const next = await worker(id, view => isReady(view) && view.pid !== pid);
      expect(next).toMatchObject({ drained: false, restarts: 1, lastExit: undefined });
      expect(await status(late)).toBe(200);
    },
  );

  it('resume cancels a restart that waits', async () => {
    const { pid, restarts } = await worker('local-0', isReady);
    const running = transcribe(script.hold, 'local');
    await worker('local-0', ({ slots }) => slots.inUse === 1);
    await order('local-0', 'restart');
    await order('local-0', 'resume');
    await rig.post(`/admin/v1/requests/cancel`, { model: 'local', state: 'running' });
    expect(await status(running)).toBe(499);
    expect(await status(transcribe('', 'local'))).toBe(200);
    expect(await worker('local-0', isReady)).toMatchObject({ pid, restarts });
  });

  it('restart of a worker that somebody else runs is 409; an unknown id is 404', async () => {
    await expectError(order(ids[0]!, 'restart'), {
      status: 409,
      code: 'worker_not_supervised',
    });
    expect((await worker(ids[0]!)).state).toBe('ready');
    for (const what of ['drain', 'resume', 'restart'] as const)
      await expectError(order('nobody', what), {
        status: 404,
        code: 'worker_not_found',
      });
  });

  describe('logs', () => {
    const lines = async (path: string) =>
      ((await rig.json(path)) as ReturnType<AdminLogsController['worker']>).data;

    it('shows the last lines of a worker, of every level, and what happened to its process', async () => {
      const data = await lines('/admin/v1/workers/local-0/log?lines=500');
      expect(data.some(({ text }) => text.startsWith('worker started {"childPid":'))).toBe(true);
      expect(data.find(({ text }) => text.startsWith('fixture listens'))).toMatchObject({
        level: 'info',
      });
      expect(await lines('/admin/v1/workers/local-0/log?lines=1')).toHaveLength(1);
      await expectError(fetch(`${rig.url}/admin/v1/workers/nobody/log`), {
        status: 404,
      });
      await expectError(fetch(`${rig.url}/admin/v1/workers/local-0/log?lines=0`), { status: 400 });
    });

    it('shows the log of the gateway, and follows it', async () => {
      expect(await status(transcribe('', 'local'))).toBe(200);
      expect((await lines('/admin/v1/logs')).at(-1)?.text).toContain('/v1/audio/transcriptions');
      const stop = new AbortController();
      const headers = { accept: 'text/event-stream' };
      const stream = await fetch(`${rig.url}/admin/v1/logs?lines=1`, {
        headers,
        signal: stop.signal,
      });
      expect(stream.headers.get('content-type')).toBe('text/event-stream');
      const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
      let read = (await reader.read()).value ?? '';
      await errorOf(order('nobody', 'drain'));
      while (!read.includes('/admin/v1/workers/nobody/drain'))
        read += (await reader.read()).value ?? '';
      expect(read).toMatch(/^data: \{"at":[\d.]+,"level":"info","text":"/);
      stop.abort();
      expect(await lines('/admin/v1/logs?level=error')).toEqual([]);
    });
  });
});
