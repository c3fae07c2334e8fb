import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AdminCatalogueController } from '../../../src/gateway/admin/catalogue.controller.js';
import { type AdminDoctorController } from '../../../src/gateway/admin/doctor.controller.js';
import { type AdminAlertsController } from '../../../src/gateway/admin/status/alerts.controller.js';
import { errorOf, GatewayRig } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';

const AT = '2027-01-02T03:04:05.6789Z';
const alert = (alertname: string, state: string, annotations: object = {}) => ({
  ...{
    labels: { alertname, severity: 'warning' },
    annotations,
    state,
    activeAt: AT,
    value: '1',
  },
});

describe('GET /admin/v1/alerts', () => {
  let prometheus: Server;
  let url: string;
  let rig: GatewayRig;
  const asked: string[] = [];
  const alerts: object[] = [
    alert('SwitchyardBatchLate', 'pending'),
    alert('SwitchyardQueueFull', 'firing', {
      ...{
        summary: 'stt refuses requests.',
        runbook_url: 'docs/operate/runbook.md#switchyardqueuefull',
      },
    }),
    alert('Foreign', 'firing', { runbook_url: 'javascript:alert(1)' }),
    { state: 'firing' },
  ];

  beforeAll(async () => {
    prometheus = createServer((request, reply) => {
      asked.push(request.url ?? '');
      reply
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ status: 'success', data: { alerts } }));
    });
    await new Promise<void>(resolve => prometheus.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(prometheus.address() as AddressInfo).port}`;
    rig = await GatewayRig.start({
      models: [sttModel()],
      settings: { 'console.prometheus_url': `${url}/` },
    });
  });
  afterAll(async () => {
    await rig.close();
    prometheus.close();
  });

  it('shows alerts of a Prometheus at a private address, firing ones first; several pages ask it once', async () => {
    const answers = await Promise.all(
      [1, 2, 3].map(
        () => rig.json('/admin/v1/alerts') as ReturnType<AdminAlertsController['list']>,
      ),
    );
    const since = Math.floor(Date.parse(AT) / 1000);
    expect(answers[0]).toEqual({
      ...{ object: 'list', configured: true },
      data: [
        { name: 'Foreign', state: 'firing', severity: 'warning', since },
        {
          ...{
            name: 'SwitchyardQueueFull',
            state: 'firing',
            severity: 'warning',
            since,
          },
          ...{
            summary: 'stt refuses requests.',
            runbook_url: 'docs/operate/runbook.md#switchyardqueuefull',
          },
        },
        { name: 'SwitchyardBatchLate', state: 'pending', severity: 'warning', since },
      ],
    });
    expect(asked).toEqual(['/api/v1/alerts']);
  });

  it('says why it shows none', async () => {
    const none = await GatewayRig.start({ models: [sttModel()] });
    const broken = await GatewayRig.start({
      ...{
        models: [sttModel()],
        settings: { 'console.prometheus_url': 'http://127.0.0.1:1' },
      },
    });
    expect(await none.json('/admin/v1/alerts')).toEqual({
      object: 'list',
      configured: false,
      data: [],
    });
    expect(await broken.json('/admin/v1/alerts')).toEqual({
      ...{ object: 'list', configured: true, data: [] },
      problem: '`console.prometheus_url` cannot be fetched: ECONNREFUSED.',
    });
    await Promise.all([none.close(), broken.close()]);
  });
});

describe('the command line of the product, over HTTP', () => {
  let rig: GatewayRig;
  beforeAll(async () => {
    rig = await GatewayRig.start({ models: [sttModel()] });
  });
  afterAll(() => rig.close());

  it('tells what doctor finds', async () => {
    const { checks } = (await rig.json('/admin/v1/doctor')) as Awaited<
      ReturnType<AdminDoctorController['check']>
    >;
    expect(checks.find(({ what }) => what === 'Node')).toMatchObject({
      state: 'ok',
      detail: expect.any(String),
    });
  });

  it('lists models that can be downloaded', async () => {
    const { data } = (await rig.json('/admin/v1/catalogue')) as Awaited<
      ReturnType<AdminCatalogueController['list']>
    >;
    expect(data.find(({ name }) => name === 'whisper-small')).toMatchObject({
      licence: expect.any(String),
      unavailable: expect.stringContaining('needs ctranslate2, which is not installed'),
    });
    expect(data.every(({ bytes }) => bytes >= 0)).toBe(true);
  });

  it('adds a model: says why it could not, one at a time', async () => {
    const add = (name: string) => rig.post(`/admin/v1/catalogue/${name}/add`, {});
    expect((await errorOf(add('..%2Fetc'))).code).toBe('model_not_found');
    expect(await (await add('no-such-model')).json()).toMatchObject({
      name: 'no-such-model',
      state: 'running',
    });
    expect((await errorOf(add('whisper-small'))).code).toBe('model_addition_running');
    const list = async () =>
      (
        (await rig.json('/admin/v1/catalogue/additions')) as ReturnType<
          AdminCatalogueController['listAdditions']
        >
      ).data[0]!;
    while ((await list()).state === 'running');
    expect(await list()).toMatchObject({
      state: 'failed',
      lines: [expect.stringContaining('no-such-model')],
    });
    expect((await errorOf(rig.post('/admin/v1/catalogue/other/cancel', {}))).code).toBe(
      'model_not_found',
    );
  });
});
