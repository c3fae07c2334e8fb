import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayRig } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';
import { bearer, KeysFolder } from './keys-folder.js';

type Headers = Record<string, string>;

let rig: GatewayRig;
let keyed: GatewayRig;
let folder: KeysFolder;
const keys = { admin: '', inference: '' };
beforeAll(async () => {
  folder = new KeysFolder();
  keys.admin = folder.add('ops', 'admin');
  keys.inference = folder.add('acme', 'inference');
  rig = await GatewayRig.start({ models: [sttModel()] });
  keyed = await GatewayRig.start({
    models: [sttModel()],
    settings: { 'auth.keys_file': folder.file },
  });
});
afterAll(async () => {
  await rig.close();
  await keyed.close();
});

/** As a browser sends it: `Host` and `Origin` are what the page's names make them. */
function ask(method: string, path: string, headers: Headers): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: rig.port, method, path, headers }, answer => {
      let text = '';
      answer.on('data', chunk => (text += String(chunk)));
      answer.on('end', () =>
        resolve(`${answer.statusCode} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ''}`.trim()),
      );
    });
    sent.on('upgrade', (_answer, socket) => {
      socket.destroy();
      resolve('101');
    });
    sent.on('error', reject).end();
  });
}

const socket = () => ({
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': randomBytes(16).toString('base64'),
});
const feed = '/events/?EIO=4&transport=websocket';

describe('a gateway without keys, and a page of another origin (D-32)', () => {
  it('cannot load or unload models, upload, cancel or open sockets', async () => {
    const origin = 'https://evil.example';
    const refused = '403 origin_not_allowed';
    expect(await ask('POST', '/admin/v1/models/stt/unload', { origin })).toBe(refused);
    expect(await ask('POST', '/v1/files', { origin })).toBe(refused);
    expect(await ask('POST', '/v1/requests/x/cancel', { 'sec-fetch-site': 'cross-site' })).toBe(
      refused,
    );
    expect(await ask('DELETE', '/v1/files/x', { origin: 'null' })).toBe(refused);
    expect(await ask('GET', '/v1/realtime', { origin, ...socket() })).toBe(refused);
    expect(await ask('GET', feed, { origin, ...socket() })).toBe(refused);
  });

  it('whose name was made to resolve to this machine does nothing and reads nothing', async () => {
    const headers = {
      host: `evil.example:${rig.port}`,
      origin: `http://evil.example:${rig.port}`,
    };
    const refused = '403 host_not_allowed';
    for (const [method, path] of [
      ['GET', '/v1/models'],
      ['GET', '/admin/v1/queue'],
      ['GET', '/metrics'],
      ['GET', '/nowhere'],
      ['POST', '/v1/files'],
    ] as const)
      expect(`${path} ${await ask(method, path, headers)}`).toBe(`${path} ${refused}`);
    expect(await ask('GET', '/v1/realtime', { ...headers, ...socket() })).toBe(refused);
    expect(await ask('GET', feed, { ...headers, ...socket() })).toBe(refused);
    const health = await fetch(`${rig.url}/health`);
    expect(await health.json()).toHaveProperty('models');
  });

  it('while its own pages and programs may', async () => {
    const origin = `http://127.0.0.1:${rig.port}`;
    expect(
      await ask('POST', '/v1/requests/x/cancel', {
        origin,
        'sec-fetch-site': 'same-origin',
      }),
    ).toMatch(/^(200|404)/);
    expect(await ask('GET', '/v1/realtime', { origin, ...socket() })).toBe('101');
    expect(await ask('GET', feed, socket())).toBe('101');
    expect(await ask('GET', '/v1/models', { host: 'localhost' })).toBe('200');
  });
});

describe('/health where keys are asked for', () => {
  it.each(['/health', '/health/ready'])(
    '%s names models and processes to an admin only',
    async path => {
      const shown = async (headers: Headers) =>
        Object.keys((await (await fetch(keyed.url + path, { headers })).json()) as object);
      expect(await shown({})).toEqual(['status']);
      expect(await shown(bearer('sk-wrong'))).toEqual(['status']);
      expect(await shown(bearer(keys.inference))).toEqual(['status']);
      expect(await shown(bearer(keys.admin))).toEqual(
        expect.arrayContaining(['status', 'models', 'batch_processor']),
      );
    },
  );
});
