import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DeviceRig, DEVICES, onDevice } from '../../support/device-rig.js';
import { formOf } from '../../support/form-of.js';
import { pause } from '../../support/waiting.js';

const IDS = ['a', 'b', 'c'];
const LARGE = { memory: '8GiB' };
const EITHER = { ...LARGE, device: ['gpu4', 'gpu5'] };
const large = (id: string, device: string, options: object = {}, fields: object = {}) =>
  onDevice(id, { ...LARGE, device, ...fields }, options);

const MODELS = [
  ...IDS.map(id => onDevice(id)),
  // It may leave as soon as REALTIME waits for another model, however long its load took.
  large(
    'long',
    'gpu1',
    { faults: [{ marker: 'long', action: 'slow', ms: 4000 }] },
    { min_residence_s: 0 },
  ),
  large('next', 'gpu1'),
  large('endless', 'gpu2', { loadMs: 60_000 }),
  large('after', 'gpu2'),
  large('broken', 'gpu3', { loadMs: 200, loadError: 'out of memory: 8.1 GiB wanted' }),
  large('beside', 'gpu3'),
  ...['one', 'two'].map(id => onDevice(id, EITHER)),
  onDevice('p', { device: 'gpu6', pin: true }),
  onDevice('w', { device: 'gpu6', prewarm: true }),
  onDevice('v', { device: 'gpu6' }),
];

let rig: DeviceRig;
beforeAll(async () => {
  const devices = Array.from({ length: 7 }, (_, at) => ({
    ...{ id: `gpu${at}`, memory: '10GiB', as: `cuda:${at}` },
  }));
  rig = await DeviceRig.start(MODELS, devices);
});
afterAll(() => rig[Symbol.asyncDispose]());

describe('three models of which two fit', () => {
  it('starts with none of them, and loads one once for four first calls', async () => {
    const workers = await rig.product.workers();
    const started = workers.filter(({ pid, model }) => pid !== undefined && IDS.includes(model));
    expect(started).toEqual([]);
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
    expect(rig.most(...IDS)).toBe(2);
  });
});

describe('two models of which one fits', () => {
  it('lets a long request end before its model leaves for REALTIME, and sends it nothing more', async () => {
    const ended: string[] = [];
    const asked = async (name: string, answer: ReturnType<DeviceRig['ask']>) => {
      expect((await answer).status).toBe(200);
      ended.push(name);
    };
    const long = asked('long', rig.ask('long', 'batch', 'long'));
    await rig.product.untilRunning(1);
    const next = asked('next', rig.ask('next', 'realtime'));
    await rig.untilState('long', 'unloading');
    expect(await rig.explanation('next')).toMatch(
      /waits for long \(1 request ahead\) to leave gpu1; next takes requests in about \d+ s/,
    );
    const { bottleneck } = await rig.product.json<{ bottleneck: { kind: string; text: string } }>(
      '/admin/v1/status',
    );
    expect(bottleneck).toMatchObject({
      kind: 'model_away',
      text: expect.stringContaining('to leave gpu1'),
    });
    const late = asked('late', rig.ask('long', 'realtime'));
    await Promise.all([long, next, late]);
    expect(ended).toEqual(['long', 'next', 'late']);
    expect(rig.most('long', 'next')).toBe(1);
  });

  it('forecasts a load as long as the one before: for deadlines, Retry-After and explanations', async () => {
    const models = [onDevice('a', LARGE, { loadMs: 300 }), onDevice('b', LARGE, { loadMs: 4000 })];
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
    const caller = new AbortController();
    const body = formOf({ model: 'endless' });
    const url = `${rig.product.url}/v1/audio/transcriptions`;
    const left = fetch(url, { method: 'POST', body, signal: caller.signal }).catch(() => 'left');
    await rig.untilState('endless', 'loading');
    caller.abort();
    expect(await left).toBe('left');
    await rig.untilState('endless', 'unloaded');
    expect((await rig.ask('after')).status).toBe(200);
  });

  it('a load that fails ends its requests with the words of the engine, and holds up nobody', async () => {
    const [broken, beside] = await Promise.all([rig.ask('broken'), rig.ask('beside')]);
    expect(broken).toMatchObject({
      status: 503,
      body: expect.stringContaining('out of memory: 8.1 GiB wanted'),
    });
    expect(broken.body).toContain('model_load_failed');
    expect(beside.status).toBe(200);
    const again = await rig.ask('broken');
    expect(again).toMatchObject({
      status: 503,
      body: expect.stringContaining('model_load_failed'),
    });
    expect(await rig.loads('broken')).toBe(1);
  });
});

describe('pinned and prewarmed models', () => {
  it('are there before anybody asks; the pinned one stays when others are asked for', async () => {
    await rig.untilState('p', 'loaded');
    await rig.untilState('w', 'loaded');
    expect((await rig.ask('v')).status).toBe(200);
    expect([await rig.stateOf('p'), await rig.stateOf('w')]).toEqual(['loaded', 'unloaded']);
    expect((await rig.ask('p')).status).toBe(200);
    expect(await rig.loads('p')).toBe(1);
    const scrape = await rig.product.gateway.scrape();
    const gpu6 = 'device="gpu6"';
    expect(scrape.sum('switchyard_device_memory_bytes', gpu6)).toBe(10 * 2 ** 30);
    expect(scrape.sum('switchyard_device_memory_used_bytes', gpu6)).toBe(10 * 2 ** 30);
    expect(scrape.sum('switchyard_model_load_seconds_count', 'model="v"')).toBe(1);
    expect(scrape.sum('switchyard_model_loads_total', 'reason="pin"')).toBe(1);
  });
});

describe('a model that may be on either of two devices', () => {
  it('goes to the one that has room, where engines get its name, and the busy model stays', async () => {
    const answers = [await rig.ask('one'), await rig.ask('two'), await rig.ask('one')];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect([await rig.loads('one'), await rig.loads('two')]).toEqual([1, 1]);
    const { data: workers } = await rig.product.json<{ data: { model: string; device: string }[] }>(
      '/admin/v1/workers',
    );
    const places = workers.map(({ model, device }) => `${model} ${device}`);
    expect(places).toEqual(expect.arrayContaining(['one cuda:4', 'two cuda:5']));
  });
});
