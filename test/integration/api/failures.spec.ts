import { afterEach, describe, expect, it } from '@jest/globals';
import { FixtureWorker, script } from '../../support/fixture-worker.js';
import { freePort } from '../../support/free-port.js';
import { audioForm, wav } from './audio-forms.js';
import { errorOf, GatewayRig, type RigOptions, until } from './gateway-rig.js';
import { sttModel } from './models.js';

const PATH = '/v1/audio/transcriptions';

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const { close } of open.splice(0).reverse()) await close();
});

async function startRig(options: RigOptions): Promise<GatewayRig> {
  const rig = await GatewayRig.start(options);
  open.push({ close: () => rig.close() });
  return rig;
}

async function startWorker(port = 0): Promise<{ worker: FixtureWorker; addresses: string[] }> {
  const worker = new FixtureWorker({ model: 'stt' });
  const addresses = [`127.0.0.1:${await worker.start(port)}`];
  open.push({ close: () => worker.stop() });
  return { worker, addresses };
}

const scripted = sttModel({ capabilities: ['transcribe', 'prompt'] });
const transcribe = (rig: GatewayRig, prompt = '', id?: string): Promise<Response> =>
  rig.post(PATH, audioForm({ fields: { prompt } }), id ? { headers: { 'x-request-id': id } } : {});

describe('what the worker says about the audio reaches the caller', () => {
  it.each([
    ['invalid_audio', 400],
    ['audio_too_short', 400],
    ['unsupported_parameter', 400],
    ['engine_failed', 500],
  ])('%s as %i, not to be retried', async (code, status) => {
    const { addresses } = await startWorker();
    const rig = await startRig({ models: [{ ...scripted, addresses }] });
    await rig.ready('stt');
    const error = await errorOf(transcribe(rig, script.fail(code)));
    expect(error).toMatchObject({ status, code });
    expect(error.headers.get('x-should-retry')).toBe('false');
    expect(await rig.spooled()).toEqual([]);
  });
});

describe('no worker', () => {
  it('at all is no_worker with Retry-After when the time in the queue is over', async () => {
    const rig = await startRig({
      models: [sttModel()],
      settings: { 'queue.timeout_ms': 50 },
    });
    const error = await errorOf(transcribe(rig));
    expect(error).toMatchObject({
      status: 503,
      code: 'no_worker',
      type: 'server_error',
    });
    expect(error.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(Number(error.headers.get('retry-after-ms'))).toBeGreaterThanOrEqual(1000);
    expect(error.headers.get('x-should-retry')).toBe('true');
  });

  it('for a while: what waited is answered when one comes', async () => {
    const port = await freePort();
    const rig = await startRig({
      models: [sttModel({ addresses: [`127.0.0.1:${port}`] })],
    });
    expect(await rig.json('/health')).toMatchObject({
      status: 'unavailable',
      models: [{ id: 'stt', ready: false }],
    });
    expect((await fetch(`${rig.url}/health/ready`)).status).toBe(503);
    expect((await fetch(`${rig.url}/health/live`)).status).toBe(200);
    const answers = Array.from({ length: 3 }, () => transcribe(rig));
    await until(
      async () => (await rig.metric('scheduler_queue_depth{priority="batch",model="stt"}')) === 3,
    );
    await startWorker(port);
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await rig.json('/health/ready')).toMatchObject({
      status: 'ok',
      models: [{ id: 'stt', ready: true }],
    });
  });

  it('and a full queue is queue_full with Retry-After, at the door', async () => {
    const rig = await startRig({
      models: [sttModel()],
      settings: { 'queue.max_requests_per_model': 1 },
    });
    const waiting = transcribe(rig, '', 'first');
    await until(
      async () => (await rig.metric('scheduler_queue_depth{priority="batch",model="stt"}')) === 1,
    );
    const error = await errorOf(transcribe(rig));
    expect(error).toMatchObject({
      status: 429,
      code: 'queue_full',
      type: 'rate_limit_error',
    });
    expect(error.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    await rig.post('/v1/requests/first/cancel', {});
    expect((await waiting).status).toBe(499);
    expect(await rig.spooled()).toEqual([]);
  });
});

describe('kill -9 of the worker', () => {
  it('twice with one request alone gives 500 worker_crashed, not to be retried', async () => {
    const rig = await startRig({ models: [{ ...scripted, replicas: 1 }] });
    const answer = errorOf(transcribe(rig, script.hold, 'kill-0'));
    for (const attempt of [1, 2]) {
      await until(() => isRunningAt(rig, attempt));
      process.kill(rig.pool.workers()[0]?.pid ?? NaN, 'SIGKILL');
    }
    const { status, code, headers } = await answer;
    expect([status, code, headers.get('x-should-retry')]).toEqual([500, 'worker_crashed', 'false']);
    expect(
      await rig.metric('switchyard_requests_accepted_total{priority="batch",model="stt"}'),
    ).toBe(1);
    expect(
      await rig.metric('scheduler_requests_total{status="failed",priority="batch",model="stt"}'),
    ).toBe(1);
    expect(await rig.spooled()).toEqual([]);
    await rig.ready('stt');
    // The same bytes are refused for a while (D-51); others are heard.
    expect((await errorOf(transcribe(rig))).code).toBe('worker_crashed');
    expect((await rig.post(PATH, audioForm({ file: wav(2) }))).status).toBe(200);
  });
});

async function isRunningAt(rig: GatewayRig, attempt: number): Promise<boolean> {
  const view = (await rig.json('/v1/requests/kill-0')) as Record<string, unknown>;
  return view.state === 'running' && view.attempts === attempt;
}
