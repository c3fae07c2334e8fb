import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UnsecuredJWT } from 'jose';
import { WebSocket } from 'ws';
import { OidcIssuer } from '../../support/oidc-issuer.js';
import { RealtimeClient } from '../../support/realtime-client.js';
import { errorOf, expectError, GatewayRig } from '../api/gateway-rig.js';
import { sttModel } from '../api/models.js';
import { FeedClient } from '../live-feed/feed-client.js';
import { bearer, KeysFolder } from './keys-folder.js';

const ALL = { scope: 'openid inference events admin', org: { id: 'acme' } };
const settingsOf = ({ issuer }: OidcIssuer) => ({
  'auth.oidc_issuer': issuer,
  'auth.oidc_audience': 'switchyard',
  'auth.oidc_tenant_claim': 'org.id',
});

describe('a gateway with an issuer', () => {
  let issuer: OidcIssuer;
  let folder: KeysFolder;
  let rig: GatewayRig;
  let key: string;

  beforeAll(async () => {
    [issuer, folder] = [await OidcIssuer.start(), new KeysFolder()];
    key = folder.add('ops', 'admin', 'inference');
    const settings = {
      ...settingsOf(issuer),
      'auth.keys_file': folder.file,
      'auth.failures_per_minute': 0,
    };
    rig = await GatewayRig.start({ models: [sttModel()], settings });
  });
  afterAll(async () => {
    await rig.close();
    await issuer[Symbol.asyncDispose]();
  });

  const ask = (token: string, path = '/v1/models') =>
    fetch(rig.url + path, { headers: bearer(token) });
  const refusal = async (token: string) => {
    const { status, code, message } = await errorOf(ask(token));
    return [status, code, message.replace(/^The token of the issuer is not accepted: /, '')];
  };

  it('accepts its tokens with the scopes and the tenant of their claims, beside keys', async () => {
    const token = await issuer.token({ claims: ALL });
    expect((await ask(token)).status).toBe(200);
    expect((await ask(token, '/admin/v1/queue')).status).toBe(200);
    expect((await ask(key)).status).toBe(200);
    const narrow = await issuer.token({ claims: { ...ALL, scope: ['inference'] } });
    expect((await ask(narrow)).status).toBe(200);
    await expectError(ask(narrow, '/admin/v1/queue'), {
      status: 403,
      code: 'missing_scope',
    });
    const none = await issuer.token({ claims: { org: ALL.org } });
    await expectError(ask(none), {
      status: 403,
      code: 'missing_scope',
    });
    expect(issuer.requests).toEqual(['/.well-known/openid-configuration', '/keys']);
  });

  it('names the subject in the audit log, and sums its usage under it', async () => {
    const token = await issuer.token({ claims: ALL });
    await fetch(`${rig.url}/admin/v1/requests/none/cancel`, {
      method: 'POST',
      headers: bearer(token),
    });
    const audit = (await (await ask(key, '/admin/v1/audit?limit=1')).json()) as {
      data: object[];
    };
    expect(audit.data).toEqual([
      expect.objectContaining({ actor: { tenant: 'acme', key: 'oidc:alice' } }),
    ]);
  });

  it.each([
    ['that expired', { expiresInS: -60 }, /"exp" claim/],
    ['for another audience', { claims: { aud: 'billing' } }, /"aud" claim/],
    ['of another issuer', { claims: { iss: 'https://issuer.example' } }, /"iss" claim/],
    ['without an expiry', { claims: { exp: undefined } }, /"exp" claim/],
    ['without a subject', { claims: { sub: undefined } }, /"sub" claim/],
    ['without the tenant', { claims: { org: {} } }, /`org\.id` must be a tenant/],
    [
      'with a tenant that is no name',
      { claims: { org: { id: 'a b' } } },
      /`org\.id` must be a tenant/,
    ],
    ['that names a key which is not there', { kid: 'other' }, /no applicable key/],
    ['with HS256', { alg: 'HS256', signWith: new Uint8Array(32) }, /"alg"/],
  ])('refuses a token %s with 401', async (_, wish, message) => {
    const token = await issuer.token({
      ...wish,
      claims: { ...ALL, ...('claims' in wish && wish.claims) },
    });
    expect(await refusal(token)).toEqual([401, 'invalid_api_key', expect.stringMatching(message)]);
  });

  it('refuses a token that is signed with the public key as if it were a secret', async () => {
    const signWith = new TextEncoder().encode(await issuer.publicPem());
    const token = await issuer.token({ claims: ALL, alg: 'HS256', signWith });
    expect(await refusal(token)).toEqual([401, 'invalid_api_key', expect.stringMatching(/"alg"/)]);
  });

  it('refuses a token without a signature, one that was changed, and one that is too long', async () => {
    const unsigned = new UnsecuredJWT({
      ...ALL,
      iss: issuer.issuer,
      aud: 'switchyard',
      sub: 'a',
    })
      .setExpirationTime('5m')
      .encode();
    const [head, , signature] = (await issuer.token({ claims: ALL })).split('.');
    const [, payload] = (await issuer.token({ claims: { ...ALL, sub: 'mallory' } })).split('.');
    const long = await issuer.token({ claims: { ...ALL, pad: 'x'.repeat(8192) } });
    for (const token of [unsigned, `${head}.${payload}.${signature}`, long])
      expect(await refusal(token)).toEqual([401, 'invalid_api_key', expect.any(String)]);
  });

  it('opens a live session and the live feed', async () => {
    const token = await issuer.token({ claims: ALL });
    const session = await RealtimeClient.open(
      rig.url,
      { model: 'stt' },
      { headers: bearer(token) },
    );
    session.socket.close();
    const address = `${rig.url.replace('http', 'ws')}/v1/realtime?model=stt`;
    const browser = new WebSocket(address, ['realtime', `openai-insecure-api-key.${token}`]);
    await once(browser, 'open');
    browser.close();
    (await FeedClient.connect(rig.url, token))[Symbol.dispose]();
    const wrong = await issuer.token({ claims: { ...ALL, aud: 'billing' } });
    await expect(FeedClient.connect(rig.url, wrong)).rejects.toMatchObject({
      data: { error: { code: 'invalid_api_key' } },
    });
  });

  it('signs in to the console, for no longer than the token lasts', async () => {
    const token = await issuer.token({ claims: ALL, expiresInS: 600 });
    const answer = await rig.post('/console/session', { key: token });
    expect(await answer.json()).toMatchObject({ signed_in: true, tenant: 'acme' });
    const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const session = await fetch(`${rig.url}/console/session`, { headers: { cookie } });
    expect(await session.json()).toMatchObject({
      signed_in: true,
      scopes: ['inference', 'admin', 'events'],
    });
    const body = Buffer.from(/ek_([\w-]+)/.exec(cookie)?.[1] ?? '', 'base64url').toString();
    expect((JSON.parse(body) as { expiresAtMs: number }).expiresAtMs).toBeLessThanOrEqual(
      Date.now() + 600_000,
    );
  });
});

describe('a gateway whose issuer does not answer', () => {
  it('answers 503 to its tokens only; keys work', async () => {
    await using issuer = await OidcIssuer.start();
    const folder = new KeysFolder();
    const key = folder.add('ops', 'inference');
    const settings = { ...settingsOf(issuer), 'auth.keys_file': folder.file };
    const rig = await GatewayRig.start({ models: [sttModel()], settings });
    issuer.away = true;
    const ask = async (token: string) => fetch(`${rig.url}/v1/models`, { headers: bearer(token) });
    const answer = await errorOf(ask(await issuer.token({ claims: ALL })));
    expect(answer).toMatchObject({ status: 503, code: 'issuer_unavailable' });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await ask(key)).status).toBe(200);
    expect((await errorOf(ask('sk-wrong'))).code).toBe('invalid_api_key');
    await rig.close();
  });
});
