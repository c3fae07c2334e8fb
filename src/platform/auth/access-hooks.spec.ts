import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { settingsFrom } from '../config/settings.js';
import { type KeyStore } from '../database/key-store.js';
import {
  AccessGuard,
  accessOf,
  admitAs,
  knownPrincipalOf,
  principalOf,
  tenantOf,
} from './access-hooks.js';
import { Authenticator } from './authenticator.js';
import { OriginGuard } from './host-and-origin-guard.js';
import { KeyRing } from './key-ring.js';
import { ANYBODY, type Principal } from './principal.js';
import { internalTokens, ShortLivedTokens } from './short-lived-tokens.js';
import { StoredKeys } from './stored-keys.js';

const KEY = 'sk-of-the-settings';
const ELSEWHERE = { host: 'evil.example', origin: 'https://evil.example' };
const tokens = new ShortLivedTokens(randomBytes(32));

type Headers = Readonly<Record<string, string>>;
const request = (url: string | undefined, headers: Headers = {}, method = 'GET') =>
  ({ routeOptions: { url }, url: '/sent', headers, method, ip: '10.1.1.1' }) as FastifyRequest;

const basic = (text: string) => ({
  authorization: `Basic ${Buffer.from(text).toString('base64')}`,
});

function guardWith(changed: Readonly<Record<string, unknown>>) {
  const settings = settingsFrom(changed);
  const stored = new StoredKeys({} as KeyStore);
  const ring = new KeyRing(settings, stored);
  const authenticator = new Authenticator(ring, tokens, settings, stored);
  return new AccessGuard(authenticator, ring, new OriginGuard(ring, settings), settings.auth);
}

describe('what a route asks for', () => {
  it.each([
    [undefined, 'any'],
    ['/', 'public'],
    ['/health/live', 'public'],
    ['/v1/requests/:id', 'inference'],
    ['/api/tags', 'inference'],
    ['/tokenize', 'inference'],
    ['/tokenize/more', 'admin'],
    ['/admin/v1/keys', 'any'],
    ['/docs-json', 'any'],
    ['/docs/static/*', 'any'],
    ['/docsother', 'admin'],
    ['/metrics', 'admin'],
    ['/unknown', 'admin'],
  ])('is of %s: %s', (route, access) => {
    expect(accessOf(route, { publicMetrics: false })).toBe(access);
  });

  it('is nothing of the metrics where they are public, and of them alone', () => {
    expect(accessOf('/metrics', { publicMetrics: true })).toBe('public');
    expect(accessOf('/unknown', { publicMetrics: true })).toBe('admin');
  });
});

describe('who sent a request', () => {
  it('is known once it was let in', () => {
    const asked = request('/v1/models');
    expect(knownPrincipalOf(asked)).toBeUndefined();
    expect(() => principalOf(asked)).toThrow('no authentication ran for GET /v1/models');
    expect(() => principalOf(request(undefined))).toThrow('ran for GET /sent');
    const principal = { tenant: 'acme', scopes: new Set() } as Principal;
    admitAs(asked, principal);
    expect([principalOf(asked), knownPrincipalOf(asked)]).toEqual([principal, principal]);
    expect(tenantOf(asked)).toBe('acme');
  });
});

describe('the guard of a server with keys', () => {
  const guard = guardWith({
    'auth.key': KEY,
    'auth.forwarded_users_from': 'auth.key',
  });
  let answered: [string, string][];
  beforeEach(() => void (answered = []));

  const reply = {
    header: (name: string, value: string) => void answered.push([name, value]),
  } as unknown as FastifyReply;
  const admit = (url: string | undefined, headers?: Headers, method?: string) => {
    const asked = request(url, headers, method);
    void guard.admit(asked, reply);
    return principalOf(asked);
  };
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  const tokenFor = (...scopes: readonly ('inference' | 'events')[]) =>
    tokens.mint({ principal: admit('/x', bearer(KEY)), scopes, ttlS: 60 }).token;

  it('lets everybody see what is public, as nobody', () => {
    expect(admit('/health', ELSEWHERE)).toBe(ANYBODY);
  });

  it('lets a key do what its scopes say, from any origin', () => {
    expect(admit('/v1/models', { ...bearer(KEY), ...ELSEWHERE }, 'POST')).toMatchObject({
      keyId: 'auth.key',
    });
    const narrow = bearer(tokenFor('events'));
    expect(admit('/admin/v1/keys', narrow)).toMatchObject({ keyId: 'auth.key' });
    expect(() => admit('/v1/models', narrow)).toThrow(
      expect.objectContaining({ code: 'missing_scope' }),
    );
    expect(answered).toEqual([]);
  });

  it.each([
    ['/v1/models', {}, 'Bearer'],
    ['/v1/models', basic(`anyone:${KEY}`), 'Bearer'],
    [undefined, basic(`anyone:${KEY}`), 'Bearer'],
    ['/docs', {}, 'Basic realm="Switchyard, the key as password"'],
    ['/docs', basic('anyone:'), 'Basic realm="Switchyard, the key as password"'],
    ['/docs', basic('anyone:sk-wrong'), 'Basic realm="Switchyard, the key as password"'],
  ])('asks at %s, shown %j, for %s', (url, headers, scheme) => {
    const refused = expect.objectContaining({ code: 'invalid_api_key' });
    expect(() => admit(url, headers)).toThrow(refused);
    expect(answered).toEqual([['www-authenticate', scheme]]);
  });

  it('takes the key as the password of a page, with any name', () => {
    for (const name of ['', 'anyone'])
      expect(admit('/docs', basic(`${name}:${KEY}`))).toMatchObject({ keyId: 'auth.key' });
  });

  it('takes a session of the console from its own pages only, where it changes something', () => {
    const cookie = { cookie: `switchyard_session=${tokenFor('inference')}` };
    const refused = expect.objectContaining({ code: 'origin_not_allowed' });
    expect(admit('/v1/models', { ...cookie, ...ELSEWHERE })).toMatchObject({ keyId: 'auth.key' });
    expect(() => admit('/v1/models', { ...cookie, origin: 'https://a.example' }, 'POST')).toThrow(
      refused,
    );
    const both = { ...cookie, ...bearer(KEY), origin: 'https://a.example' };
    expect(admit('/v1/models', both, 'POST')).toMatchObject({ keyId: 'auth.key' });
  });

  it('lets a trusted key name the user it asks for, also with a token of an issuer', async () => {
    const headers = { ...bearer(KEY), 'x-openwebui-user-id': 'ann' };
    expect(admit('/v1/models', headers).tenant).toBe('default~ann');
    const found = { ...ANYBODY, keyId: 'auth.key', tenant: 'acme', scopes: new Set() } as Principal;
    const later = new AccessGuard(
      { authenticateRequest: () => Promise.resolve(found) } as unknown as Authenticator,
      ...([{ enabled: true }, { demandRequest: () => undefined }] as never as [
        KeyRing,
        OriginGuard,
      ]),
      settingsFrom({ 'auth.forwarded_users_from': 'auth.key' }).auth,
    );
    const asked = request('/docs', headers);
    await later.admit(asked, reply);
    expect(principalOf(asked).tenant).toBe('acme~ann');
    const refused = later.admit(request('/v1/models', headers), reply);
    await expect(refused).rejects.toMatchObject({ code: 'missing_scope' });
    const wrong = later.admit(request('/docs', { ...headers, 'x-openwebui-user-id': '' }), reply);
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_value' });
    expect(answered).toHaveLength(1);
  });
});

describe('the guard of a server without keys', () => {
  const guard = guardWith({});
  const reply = {} as FastifyReply;

  it.each([
    [{ host: 'localhost' }, 'GET', undefined],
    [ELSEWHERE, 'GET', 'host_not_allowed'],
    [{ host: 'localhost', origin: 'https://evil.example' }, 'POST', 'origin_not_allowed'],
  ])('answers %j, %s with %s', (headers, method, code) => {
    const asked = request('/v1/models', headers, method);
    const admit = () => guard.admit(asked, reply);
    if (code) expect(admit).toThrow(expect.objectContaining({ code }));
    else expect(admit()).toBeUndefined();
    expect(knownPrincipalOf(asked)).toBe(ANYBODY);
  });

  it('lets its own processes in from anywhere', () => {
    const own = { authorization: `Bearer ${internalTokens(tokens)('default')}`, ...ELSEWHERE };
    void guard.admit(request('/v1/models', own, 'POST'), reply);
  });
});
