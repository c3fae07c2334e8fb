import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { io } from 'socket.io-client';
import { Authenticator } from '../../../src/platform/auth/authenticator.js';
import { ShortLivedTokens } from '../../../src/platform/auth/short-lived-tokens.js';
import { PostgresServer } from '../../support/postgres-server.js';
import { itWith, POSTGRES } from '../../support/requires.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { until } from '../../support/waiting.js';
import { errorOf, GatewayRig } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';
import { bearer, KeysFolder } from '../auth/keys-folder.js';

const LINKS = {
  'console.trace_url': 'https://traces.example/{request_id}',
  'console.manual_url': '',
} as const;

let folder: KeysFolder;
let rig: GatewayRig;
let operator: string;
let client: string;

beforeAll(async () => {
  folder = new KeysFolder();
  operator = folder.add('acme', 'inference', 'admin', 'events');
  client = folder.add('acme', 'inference');
  rig = await GatewayRig.start({
    models: [sttModel()],
    settings: { 'auth.keys_file': folder.file, ...LINKS },
  });
});
afterAll(() => rig.close());

const signIn = (key: string, headers: Record<string, string> = {}) =>
  rig.post('/console/session', { key }, { headers });
const cookieOf = (answer: Response): string => answer.headers.get('set-cookie') ?? '';
const cookieFor = async (key: string) => ({
  cookie: cookieOf(await signIn(key)).split(';')[0] ?? '',
});
const ask = (path: string, headers: Record<string, string>, method = 'GET') =>
  fetch(rig.url + path, { method, headers });

describe('the session of the console', () => {
  it('is a cookie that scripts cannot read, other sites do not send, and that ends', async () => {
    const answer = await signIn(operator);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      keys_required: true,
      signed_in: true,
      tenant: 'acme',
      scopes: ['inference', 'admin', 'events'],
      links: { trace: 'https://traces.example/{request_id}', manual: '' },
    });
    expect(cookieOf(answer)).toMatch(/; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/);
    expect(cookieOf(answer)).not.toContain(operator);
  });

  it('stands for its key at routes, with the scopes of that key', async () => {
    const asOperator = await cookieFor(operator);
    const asClient = await cookieFor(client);
    expect((await ask('/admin/v1/queue', asOperator)).status).toBe(200);
    expect((await ask('/v1/models', asClient)).status).toBe(200);
    expect((await errorOf(ask('/admin/v1/queue', asClient))).code).toBe('missing_scope');
    expect(await (await ask('/console/session', asClient)).json()).toEqual({
      ...{ keys_required: true, signed_in: true, tenant: 'acme', scopes: ['inference'] },
    });
    expect(await (await ask('/health', asOperator)).json()).toHaveProperty('models');
  });

  it('stands for its key at the live feed', async () => {
    const socket = io(`${rig.url}/events`, {
      path: '/events/',
      transports: ['websocket'],
      extraHeaders: await cookieFor(operator),
    });
    const answer = await socket.emitWithAck('join', 'queue');
    socket.close();
    expect(answer).toMatchObject({ ok: true, room: 'queue' });
  });

  it('changes nothing for a page of another origin', async () => {
    const cookie = await cookieFor(operator);
    const other = { ...cookie, origin: 'http://127.0.0.1:1' };
    const own = { ...cookie, origin: rig.url };
    const cancel = '/admin/v1/requests/req_1/cancel';
    expect((await errorOf(ask(cancel, other, 'POST'))).code).toBe('origin_not_allowed');
    expect((await ask(cancel, own, 'POST')).status).toBe(200);
    expect((await errorOf(signIn(operator, { origin: 'https://evil.example' }))).code).toBe(
      'origin_not_allowed',
    );
  });

  it('is not given for a wrong key, nor for a short-lived token', async () => {
    const authenticator = rig.app.get(Authenticator, { strict: false });
    const signedIn = await authenticator.authenticate(operator);
    const tokens = rig.app.get(ShortLivedTokens, { strict: false });
    const { token } = tokens.mint({
      principal: signedIn,
      scopes: ['realtime'],
      ttlS: 60,
    });
    for (const key of ['sk-wrong', token])
      expect((await errorOf(signIn(key))).code).toBe('invalid_api_key');
    expect((await errorOf(signIn(''))).code).toBe('missing_required_parameter');
  });

  it('ends when it is changed, and by signing out', async () => {
    const { cookie } = await cookieFor(operator);
    // Not the last character: not all of its bits count.
    const changed = cookie.at(-9) === 'A' ? 'B' : 'A';
    const forged = { cookie: `${cookie.slice(0, -9)}${changed}${cookie.slice(-8)}` };
    expect((await errorOf(ask('/admin/v1/queue', forged))).code).toBe('invalid_api_key');
    const out = await ask('/console/session', { cookie }, 'DELETE');
    expect([out.status, cookieOf(out)]).toEqual([
      204,
      expect.stringContaining('switchyard_session=; Path=/; Max-Age=0'),
    ]);
    expect((await errorOf(ask('/admin/v1/queue', { cookie }))).code).toBe('invalid_api_key');
    expect(await (await ask('/console/session', { cookie })).json()).toMatchObject({
      signed_in: false,
    });
  });
});

/** @param shared settings that give all gateways one database */
async function expectSignedOutEverywhere(shared: Readonly<Record<string, string>>): Promise<void> {
  const secret = join(dirname(folder.file), 'token-secret');
  await writeFile(secret, 'a'.repeat(64));
  const settings = {
    'auth.keys_file': folder.file,
    'auth.token_secret_file': secret,
    ...shared,
  };
  const start = () => GatewayRig.start({ models: [sttModel()], settings });
  const gateways = [await start(), await start()];
  const [first, second] = gateways as [GatewayRig, GatewayRig];
  const status = async (at: GatewayRig, headers: Record<string, string>) =>
    (await fetch(`${at.url}/admin/v1/queue`, { headers })).status;
  try {
    const cookie = async () => ({
      cookie: cookieOf(await first.post('/console/session', { key: operator })).split(';')[0] ?? '',
    });
    const [ended, other] = [await cookie(), await cookie()];
    expect(await status(second, ended)).toBe(200);
    await fetch(`${first.url}/console/session`, { method: 'DELETE', headers: ended });
    expect(await status(first, ended)).toBe(401);
    await until(async () => (await status(second, ended)) === 401);
    gateways.push(await start());
    expect(await status(gateways[2]!, ended)).toBe(401);
    for (const gateway of gateways) expect(await status(gateway, other)).toBe(200);
  } finally {
    await Promise.all(gateways.map(gateway => gateway.close()));
  }
}

describe('a session that was signed out at one gateway', () => {
  it('is refused by the others of its database, and after a restart; another session of the same second goes on', async () => {
    const dataDir = temporaryFolder();
    await expectSignedOutEverywhere({ 'data.dir': dataDir });
  });

  itWith(POSTGRES)(
    'is refused so on PostgreSQL too',
    async () => {
      await using postgres = await PostgresServer.start();
      await expectSignedOutEverywhere({ 'database.url': postgres.url() });
    },
    60_000,
  );
});

describe('behind a proxy with TLS', () => {
  const forwarded = {
    'x-forwarded-proto': 'https',
    'x-forwarded-for': '203.0.113.7, 198.51.100.2',
  };
  const wrongFrom = async (url: string, address: string) =>
    (
      await errorOf(
        fetch(`${url}/v1/models`, {
          headers: { ...bearer('sk-wrong'), 'x-forwarded-for': address },
        }),
      )
    ).code;

  it('that is trusted, the cookie is Secure and wrong keys count by the address of the client', async () => {
    const proxied = await GatewayRig.start({
      models: [sttModel()],
      settings: {
        ...{ 'auth.keys_file': folder.file, 'auth.failures_per_minute': 1 },
        'server.trusted_proxies': '127.0.0.0/8, 198.51.100.2',
      },
    });
    const answer = await proxied.post(
      '/console/session',
      { key: operator },
      { headers: forwarded },
    );
    expect(cookieOf(answer)).toMatch(/; Secure$/);
    for (const code of ['invalid_api_key', 'rate_limit_exceeded'])
      expect(await wrongFrom(proxied.url, '203.0.113.7, 198.51.100.2')).toBe(code);
    expect(await wrongFrom(proxied.url, '203.0.113.8')).toBe('invalid_api_key');
    // What a client wrote itself stands before what the proxy appended.
    expect(await wrongFrom(proxied.url, '192.0.2.1, 203.0.113.7')).toBe('rate_limit_exceeded');
    await proxied.close();
  });

  it('that is not trusted, its headers say nothing', async () => {
    expect(cookieOf(await signIn(operator, forwarded))).not.toMatch(/Secure/);
  });
});

describe('the pages of the console', () => {
  it('need no key, come with a strict policy, and are the same for every view', async () => {
    const [page, view] = await Promise.all([
      ask('/console', {}),
      ask('/console/requests/req_1', {}),
    ]);
    expect([page.status, view.status]).toEqual([200, 200]);
    expect(await view.text()).toBe(await page.text());
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain('unsafe');
  });

  it('are where a browser is sent from the bare address; a program gets JSON', async () => {
    const browser = await fetch(rig.url, {
      headers: { accept: 'text/html' },
      redirect: 'manual',
    });
    expect([browser.status, browser.headers.get('location')]).toEqual([302, '/console']);
    expect(await (await ask('/', { accept: 'application/json' })).json()).toMatchObject({
      name: 'switchyard',
    });
  });

  it('has no file outside of it', async () => {
    expect((await errorOf(ask('/console/assets/..%2Findex.html', {}))).code).toBe('unknown_url');
  });
});
