import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type JWTPayload } from 'jose';
import { OidcIssuer } from '../../../test/support/oidc-issuer.js';
import { settingsFrom } from '../config/settings.js';
import { IssuerTokens } from './issuer-tokens.js';

const ALL = { scope: 'openid inference events admin', org: { id: 'acme' } };

let issuer: OidcIssuer;
let nowMs: number;
let tokens: IssuerTokens;

const tokensWith = (settings: Readonly<Record<string, string>> = {}) =>
  new IssuerTokens(
    settingsFrom({
      'auth.oidc_issuer': issuer.issuer,
      'auth.oidc_audience': 'switchyard',
      'auth.oidc_tenant_claim': 'org.id',
      ...settings,
    }).auth,
    () => nowMs,
  );

beforeAll(async () => void (issuer = await OidcIssuer.start()));
afterAll(() => issuer[Symbol.asyncDispose]());
beforeEach(() => {
  Object.assign(issuer, { document: {}, away: false, otherKeys: [] });
  issuer.requests.length = 0;
  nowMs = 0;
  tokens = tokensWith();
});

const verify = async (claims: JWTPayload = ALL) =>
  tokens.principalOf(await issuer.token({ claims: { ...ALL, ...claims } }));
const fetches = () => issuer.requests.filter(path => path === '/keys').length;

describe('the keys of an issuer', () => {
  it('are fetched once for many tokens', async () => {
    await Promise.all(Array.from({ length: 20 }, () => verify()));
    expect(issuer.requests).toEqual(['/.well-known/openid-configuration', '/keys']);
  });

  it('are fetched from the address of the settings, without discovery', async () => {
    tokens = tokensWith({ 'auth.oidc_jwks_url': `${issuer.issuer}/keys` });
    expect(await verify()).toMatchObject({ tenant: 'acme' });
    expect(issuer.requests).toEqual(['/keys']);
  });

  it('are fetched again for a key that is not known, at most every 30 s', async () => {
    await verify();
    await issuer.rotate('ES256');
    nowMs = 29_999;
    await expect(verify()).rejects.toMatchObject({ code: 'invalid_api_key' });
    expect(fetches()).toBe(1);
    nowMs = 30_000;
    expect(await verify()).toMatchObject({ keyId: 'oidc:alice', tenant: 'acme' });
    expect(fetches()).toBe(2);
  });

  it('are refreshed after 10 minutes, and used for an hour while the issuer is away', async () => {
    await verify();
    nowMs = 599_999;
    await verify();
    expect(fetches()).toBe(1);
    nowMs = 600_000;
    await verify();
    expect(fetches()).toBe(2);
    issuer.away = true;
    nowMs = 600_000 + 3_599_999;
    expect(await verify()).toMatchObject({ tenant: 'acme' });
    nowMs = 600_000 + 3_600_000;
    await expect(verify()).rejects.toMatchObject({ code: 'issuer_unavailable' });
    issuer.away = false;
    await expect(verify()).rejects.toMatchObject({ code: 'issuer_unavailable' });
    nowMs += 30_000;
    expect(await verify()).toMatchObject({ tenant: 'acme' });
  });

  it.each([
    ['of another issuer', { issuer: 'https://other.example' }],
    ['without the address of the keys', { jwks_uri: undefined }],
    ['with keys in the network of the gateway', { jwks_uri: 'http://127.0.0.1:1/keys' }],
  ])('are not taken from a discovery document %s', async (_, document) => {
    issuer.document = document;
    await expect(verify()).rejects.toMatchObject({ code: 'issuer_unavailable' });
  });

  it('are at most 100', async () => {
    issuer.otherKeys = Array(99).fill({ kty: 'oct', kid: 'other' });
    expect(await verify()).toMatchObject({ tenant: 'acme' });
    issuer.otherKeys = Array(100).fill({ kty: 'oct', kid: 'other' });
    tokens = tokensWith();
    await expect(verify()).rejects.toMatchObject({ code: 'issuer_unavailable' });
  });
});

describe('a token of an issuer', () => {
  const SUBJECT = /`sub` must be 1 to 200 ASCII characters/;
  const TENANT = /`org\.id` must be a tenant/;

  it('gives its subject, tenant, scopes and end', async () => {
    const exp = Math.floor(Date.now() / 1000) + 77;
    expect(await verify({ exp })).toEqual({
      keyId: 'oidc:alice',
      tenant: 'acme',
      scopes: new Set(['inference', 'admin', 'events']),
      terms: { key: 'oidc:alice' },
      expiresAtMs: exp * 1000,
    });
    expect(tokens.hasId('oidc:alice')).toBe(true);
    expect(tokens.hasId('alice')).toBe(false);
  });

  it.each([
    [{ 'org.id': 'dots' }, 'dots'],
    [{ org: { id: 'x'.repeat(64) } }, 'x'.repeat(64)],
    [{ sub: 's'.repeat(200) }, 'acme'],
  ])('with the claims %j is of the tenant %s', async (claims, tenant) => {
    expect(await verify(claims)).toMatchObject({ tenant });
  });

  it.each<[JWTPayload, RegExp]>([
    [{ sub: 's'.repeat(201) }, SUBJECT],
    [{ sub: '' }, SUBJECT],
    [{ sub: 'a b' }, SUBJECT],
    [{ org: { id: 'x'.repeat(65) } }, TENANT],
    [{ org: { id: 5 } }, TENANT],
    [{ org: 'acme' }, TENANT],
    [{ org: undefined }, TENANT],
    [{ aud: 'billing' }, /"aud"/],
  ])('with the claims %j is refused', async (claims, message) => {
    await expect(verify(claims)).rejects.toMatchObject({
      code: 'invalid_api_key',
      message: expect.stringMatching(message),
    });
  });

  it('is of the default tenant where the settings name no claim of it', async () => {
    tokens = tokensWith({ 'auth.oidc_tenant_claim': '' });
    expect(await verify({ org: undefined })).toMatchObject({ tenant: 'default' });
  });

  it('may name a character of no text as its tenant', async () => {
    tokens = tokensWith({ 'auth.oidc_tenant_claim': 'org.0' });
    await expect(verify({ org: 'acme' })).rejects.toMatchObject({ code: 'invalid_api_key' });
  });

  it.each([
    ['sw:', 'sw:inference admin', ['inference']],
    ['', ['admin', 'other'], ['admin']],
    ['', 7, []],
  ])('has the scopes with the prefix %j out of %j: %j', async (prefix, scope, scopes) => {
    tokens = tokensWith({ 'auth.oidc_scope_prefix': prefix });
    expect(await verify({ scope })).toMatchObject({ scopes: new Set(scopes) });
  });

  it.each([
    [8192, /Invalid Compact JWS/],
    [8193, /longer than 8192 characters/],
  ])('of %d characters that is none is refused', async (length, message) => {
    await expect(tokens.principalOf('x'.repeat(length))).rejects.toThrow(message);
  });

  it.each([
    [-29, true],
    [-31, false],
  ])('that ends in %d s is taken: %p', async (expiresInS, isTaken) => {
    const token = await issuer.token({ claims: ALL, expiresInS });
    const taken = tokens.principalOf(token).then(
      () => true,
      () => false,
    );
    expect(await taken).toBe(isTaken);
  });
});
