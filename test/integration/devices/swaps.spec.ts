import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DeviceRig, DEVICES, onDevice } from '../../support/device-rig.js';
import { pause } from '../../support/waiting.js';

describe('three models of which two fit', () => {
  let rig: DeviceRig;

  beforeAll(async () => {
    rig = await DeviceRig.start([onDevice('a'), onDevice('b'), onDevice('c')]);
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  it('starts with none of them, and loads one once for four first calls', async () => {
    expect((await rig.product.workers()).filter(({ pid }) => pid !== undefined)).toEqual([]);
    const answers = await Promise.all(
      ['1', '2', '3', '4'].map(text => rig.ask('a', 'batch', text)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await rig.loads('a')).toBe(1);
  });

  it('answers two models that are asked for in the same second, one beside the other', async () => {
    const answers = await Promise.all([rig.ask('b'), rig.ask('c')]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect([await rig.loads('b'), await rig.loads('c')]).toEqual([1, 1]);
  });

  it('never has more processes at a time than fit, whoever asks for what', async () => {
    const models = ['a', 'b', 'c', 'a', 'c', 'b', 'a', 'b', 'c', 'c', 'a'];
    const answers = await Promise.all(
      models.map(async (model, index) => {
        await pause(index * 150);
        return rig.ask(model, index % 3 === 0 ? 'realtime' : 'batch');
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(models.map(() => 200));
    expect(rig.most).toBe(2);
  });
});

describe('two models of which one fits', () => {
  const large = { memory: '8GiB' };

  it('lets a long request end before its model leaves for REALTIME, and sends it nothing more', async () => {
    const slow = { faults: [{ marker: 'long', action: 'slow', ms: 4000 }] };
    // It may leave as soon as REALTIME waits for another model, however long its load took.
    const a = onDevice('a', { ...large, min_residence_s: 0 }, slow);
    await using rig = await DeviceRig.start([a, onDevice('b', large)]);
    const ended: string[] = [];
    const asked = async (name: string, answer: ReturnType<DeviceRig['ask']>) => {
      expect((await answer).status).toBe(200);
      ended.push(name);
    };
    const long = asked('long', rig.ask('a', 'batch', 'long'));
    await rig.product.untilRunning(1);
    const b = asked('b', rig.ask('b', 'realtime'));
    await rig.untilState('a', 'unloading');
    expect(await rig.explanation('b')).toMatch(
      /waits for a \(1 request ahead\) to leave gpu0; b takes requests in about \d+ s/,
    );
    const { bottleneck } = await rig.product.json<{ bottleneck: { kind: string; text: string } }>(
      '/admin/v1/status',
    );
    expect(bottleneck).toMatchObject({
      kind: 'model_away',
      text: expect.stringContaining('to leave gpu0'),
    });
    const late = asked('late', rig.ask('a', 'realtime'));
    await Promise.all([long, b, late]);
    expect(ended).toEqual(['long', 'b', 'late']);
    expect(rig.most).toBe(1);
  });

  it('forecasts a load as long as the one before: for deadlines, Retry-After and explanations', async () => {
    const models = [onDevice('a', large, { loadMs: 300 }), onDevice('b', large, { loadMs: 4000 })];
    await using rig = await DeviceRig.start(models, DEVICES, { 'queue.max_requests_per_model': 1 });
    for (const id of ['b', 'a']) expect((await rig.ask(id)).status).toBe(200);
    const scrape = await rig.product.gateway.scrape();
    const loadS = scrape.sum('switchyard_model_load_seconds_sum', 'model="b"');
    const hurried = await rig.product.transcribe('b', { model: 'b', deadlineMs: 1000 });
    expect(hurried.status).toBe(503);
    const { error } = (await hurried.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe('deadline_unreachable');
    const [, startMs] = /\((\d+) ms until it starts\)/.exec(error.message) ?? [];
    expect(Number(startMs) / 1000 / loadS).toBeGreaterThan(0.99);
    expect(Number(startMs) / 1000 / loadS).toBeLessThan(2);
    const b = rig.ask('b');
    await rig.untilState('b', 'loading');
    const full = await rig.product.transcribe('b', { model: 'b', priority: 'batch' });
    expect(await full.json()).toMatchObject({ error: { code: 'queue_full' } });
    expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(1);
    const [, aboutS] = /b takes requests in about (\d+) s/.exec(await rig.explanation('b')) ?? [];
    expect(Number(aboutS)).toBeLessThanOrEqual(Math.ceil(loadS));
    expect((await b).status).toBe(200);
  });

  it('cancels a load when its last caller has left, and the device is free again', async () => {
    await using rig = await DeviceRig.start([
      onDevice('a', large, { loadMs: 60_000 }),
      onDevice('b', large),
    ]);
    const caller = new AbortController();
    const form = new FormData();
    form.set('file', new Blob(['a']), 'a.wav');
    form.set('model', 'a');
    const url = `${rig.product.url}/v1/audio/transcriptions`;
    const left = fetch(url, { method: 'POST', body: form, signal: caller.signal }).catch(
      () => 'left',
    );
    await rig.untilState('a', 'loading');
    caller.abort();
    expect(await left).toBe('left');
    await rig.untilState('a', 'unloaded');
    expect((await rig.ask('b')).status).toBe(200);
  });

  it('a load that fails ends its requests with the words of the engine, and holds up nobody', async () => {
    const fails = { loadMs: 200, loadError: 'out of memory: 8.1 GiB wanted' };
    await using rig = await DeviceRig.start([onDevice('a', large, fails), onDevice('b', large)]);
    const [a, b] = await Promise.all([rig.ask('a'), rig.ask('b')]);
    expect(a).toMatchObject({
      status: 503,
      body: expect.stringContaining('out of memory: 8.1 GiB wanted'),
    });
    expect(a.body).toContain('model_load_failed');
    expect(b.status).toBe(200);
    const again = await rig.ask('a');
    expect(again).toMatchObject({
      status: 503,
      body: expect.stringContaining('model_load_failed'),
    });
    expect(await rig.loads('a')).toBe(1);
  });
});

describe('pinned and prewarmed models', () => {
  it('are there before anybody asks; the pinned one stays when others are asked for', async () => {
    await using rig = await DeviceRig.start([
      onDevice('p', { pin: true }),
      onDevice('w', { prewarm: true }),
      onDevice('b'),
    ]);
    await rig.untilState('p', 'loaded');
    await rig.untilState('w', 'loaded');
    expect((await rig.ask('b')).status).toBe(200);
    expect([await rig.stateOf('p'), await rig.stateOf('w')]).toEqual(['loaded', 'unloaded']);
    expect((await rig.ask('p')).status).toBe(200);
    expect(await rig.loads('p')).toBe(1);
    const scrape = await rig.product.gateway.scrape();
    expect(scrape.sum('switchyard_device_memory_bytes')).toBe(10 * 2 ** 30);
    expect(scrape.sum('switchyard_device_memory_used_bytes')).toBe(10 * 2 ** 30);
    expect(scrape.sum('switchyard_model_load_seconds_count', 'model="b"')).toBe(1);
    expect(scrape.sum('switchyard_model_loads_total', 'reason="pin"')).toBe(1);
  });
});

describe('a model that may be on either of two devices', () => {
  it('goes to the one that has room, where engines get its name, and the busy model stays', async () => {
    const devices = ['gpu0', 'gpu1'].map((id, at) => ({ id, memory: '10GiB', as: `cuda:${at}` }));
    const large = { memory: '8GiB', device: ['gpu0', 'gpu1'] };
    await using rig = await DeviceRig.start([onDevice('a', large), onDevice('b', large)], devices);
    const answers = [await rig.ask('a'), await rig.ask('b'), await rig.ask('a')];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect([await rig.loads('a'), await rig.loads('b')]).toEqual([1, 1]);
    const { data: workers } = await rig.product.json<{ data: { model: string; device: string }[] }>(
      '/admin/v1/workers',
    );
    expect(workers.map(({ model, device }) => `${model} ${device}`).sort()).toEqual([
      'a cuda:0',
      'b cuda:1',
    ]);
  });
});
