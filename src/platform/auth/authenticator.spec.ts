import { randomBytes } from 'node:crypto';
import { type IncomingHttpHeaders } from 'node:http';
import { type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { settingsFrom } from '../config/settings.js';
import { type KeyStore } from '../database/key-store.js';
import { Authenticator, bearerToken, subprotocolToken } from './authenticator.js';
import { KeyRing } from './key-ring.js';
import { addApiKey } from './keys-file.js';
import { ANYBODY } from './principal.js';
import { INTERNAL_KEY_ID, internalTokens, ShortLivedTokens } from './short-lived-tokens.js';
import { StoredKeys } from './stored-keys.js';

describe('a server that asks for no keys', () => {
  const tokens = new ShortLivedTokens(randomBytes(32));
  const settings = settingsFrom({});
  const stored = new StoredKeys({} as KeyStore);
  const authenticator = new Authenticator(new KeyRing(settings, stored), tokens, settings, stored);

  it('takes everybody for anybody, whatever they show', () => {
    const stranger = internalTokens(new ShortLivedTokens(randomBytes(32)))('default');
    for (const token of [undefined, 'sk-anything', stranger])
      expect(authenticator.authenticate(token)).toBe(ANYBODY);
  });

  it('knows its own processes, which may do no less than anybody', () => {
    const own = authenticator.authenticate(internalTokens(tokens)('default'));
    expect(own).toEqual({ ...ANYBODY, keyId: INTERNAL_KEY_ID });
    expect(authenticator.isCurrent({ ...ANYBODY, keyId: 'withdrawn' })).toBe(true);
  });
});

describe('the key of a request', () => {
  it.each([
    [{ authorization: 'Bearer  a' }, 'a'],
    [{ authorization: 'bearer a ' }, 'a'],
    [{ authorization: 'Basic YTpi', 'api-key': 'b' }, 'b'],
    [{ 'api-key': 'a', 'x-api-key': 'b' }, 'a'],
    [{ 'api-key': '', 'x-api-key': 'b' }, 'b'],
    [{ authorization: 'Bearer a', 'x-api-key': 'b' }, 'a'],
    [{ 'x-api-key': '' }, undefined],
    [{}, undefined],
  ])('of the headers %j is %j', (headers, key) => expect(bearerToken(headers)).toBe(key));

  it.each([
    ['realtime, openai-insecure-api-key.a', 'a'],
    ['openai-insecure-api-key.', undefined],
    ['realtime', undefined],
    [undefined, undefined],
  ])('of the subprotocols %j is %j', (offered, key) =>
    expect(subprotocolToken({ 'sec-websocket-protocol': offered })).toBe(key),
  );
});

describe('a server with a file of keys', () => {
  // A minute may pass on a busy machine: failures are forgotten by the clock.
  beforeEach(() => void jest.spyOn(performance, 'now').mockReturnValue(1_000_000));
  afterEach(() => void jest.restoreAllMocks());

  const file = join(temporaryFolder(), 'keys.yaml');
  const { key } = addApiKey(file, { tenant: 'acme', scopes: ['inference'] });
  const settings = settingsFrom({ 'auth.keys_file': file });
  const table = { endSession: () => Promise.resolve() };
  const stored = new StoredKeys(table as unknown as KeyStore);
  const tokens = new ShortLivedTokens(randomBytes(32));
  const ring = new KeyRing(settings, stored);
  const authenticator = new Authenticator(ring, tokens, settings, stored);
  const owner = ring.find(key)!;
  const session = (principal = owner) =>
    tokens.mint({ principal, scopes: ['inference'], ttlS: 60 }).token;

  it('knows who shows one of them, and nobody else', () => {
    expect(authenticator.authenticate(key)).toMatchObject({ tenant: 'acme' });
    for (const token of [undefined, 'sk-anything', `${key}x`])
      expect(() => authenticator.authenticate(token)).toThrow();
  });

  it.each([
    [{}, 'invalid_api_key'],
    [{ authorization: 'Bearer sk-anything' }, 'rate_limit_exceeded'],
    [{ authorization: 'Basic YTpi' }, 'rate_limit_exceeded'],
    [{ 'x-api-key': 'sk-anything' }, 'rate_limit_exceeded'],
  ])('refuses an address with many failures that showed %j with %s', (headers, code) => {
    const caller = { headers, ip: JSON.stringify(headers) };
    const guess = () => authenticator.authenticateRequest(undefined, caller);
    for (let times = 0; times < settings.auth.failuresPerMinute; times++)
      expect(guess).toThrow(expect.objectContaining({ code: 'invalid_api_key' }));
    expect(guess).toThrow(expect.objectContaining({ code }));
  });

  it('takes short-lived tokens of keys that are there, until they are signed out', async () => {
    const [token, other] = [session(), session()];
    await authenticator.endSession('ek_no.token');
    await authenticator.endSession(token);
    expect(() => authenticator.authenticate(token)).toThrow();
    expect(authenticator.authenticate(other)).toMatchObject({ keyId: owner.keyId });
    const withdrawn = session({ ...owner, keyId: 'withdrawn' });
    expect(() => authenticator.authenticate(withdrawn)).toThrow();
  });

  it.each([
    [{ keyId: INTERNAL_KEY_ID }, true],
    [{ keyId: 'withdrawn' }, false],
    [{}, false],
    [{ keyId: 'oidc:alice' }, false],
  ])('has %j as a current key: %p', (change, isCurrent) => {
    expect(authenticator.isCurrent({ ...ANYBODY, ...change })).toBe(isCurrent);
    expect(authenticator.isCurrent(owner)).toBe(true);
  });

  it('knows the key of a WebSocket and of Socket.IO, wherever they carry it', () => {
    const socket = { remoteAddress: '192.0.2.1' } as Socket;
    const cookie = { cookie: `switchyard_session=${session()}` };
    const offered = { 'sec-websocket-protocol': `openai-insecure-api-key.${key}` };
    const bearer = { authorization: `Bearer ${key}` };
    for (const headers of [bearer, offered, cookie])
      expect(authenticator.authenticateUpgrade({ headers, socket })).toMatchObject({
        tenant: 'acme',
      });
    for (const [auth, headers] of [
      [{ token: key }, {}],
      [{ token: '' }, bearer],
      [{ token: 5 }, cookie],
      [undefined, bearer],
    ] as const)
      expect(authenticator.authenticateHandshake({ auth, headers })).toMatchObject({
        tenant: 'acme',
      });
  });

  it.each<
    [string, (headers: IncomingHttpHeaders, address: string) => unknown, IncomingHttpHeaders]
  >([
    [
      'a WebSocket',
      (headers, remoteAddress) =>
        authenticator.authenticateUpgrade({ headers, socket: { remoteAddress } as Socket }),
      { 'sec-websocket-protocol': 'openai-insecure-api-key.wrong' },
    ],
    [
      'Socket.IO',
      (headers, address) => authenticator.authenticateHandshake({ auth: {}, headers, address }),
      { authorization: 'Bearer wrong' },
    ],
  ])('counts wrong keys of %s by address, and not those who show none', (name, open, wrong) => {
    const perMinute = settings.auth.failuresPerMinute;
    const refused = (code: string) => expect.objectContaining({ code });
    for (let times = 0; times < perMinute + 5; times++)
      expect(() => open({}, name)).toThrow(refused('invalid_api_key'));
    for (let times = 0; times < perMinute; times++)
      expect(() => open(wrong, name)).toThrow(refused('invalid_api_key'));
    expect(() => open(wrong, name)).toThrow(refused('rate_limit_exceeded'));
    jest.spyOn(performance, 'now').mockReturnValue(1_000_000 + 60_000 / perMinute + 1);
    expect(() => open(wrong, name)).toThrow(refused('invalid_api_key'));
    expect(() => open(wrong, name)).toThrow(refused('rate_limit_exceeded'));
    expect(() => open(wrong, 'another')).toThrow(refused('invalid_api_key'));
    expect(() => open({}, name)).toThrow(refused('invalid_api_key'));
  });

  it('counts none where the settings limit none, and none but wrong keys', async () => {
    const open = settingsFrom({ 'auth.keys_file': file, 'auth.failures_per_minute': 0 });
    const unlimited = new Authenticator(ring, tokens, open, stored);
    const caller = { headers: { authorization: 'Bearer sk-wrong' }, ip: 'unlimited' };
    for (let times = 0; times < 50; times++)
      expect(() => unlimited.authenticateRequest('sk-wrong', caller)).toThrow(
        expect.objectContaining({ code: 'invalid_api_key' }),
      );
    const away = settingsFrom({
      ...{ 'auth.oidc_issuer': 'http://127.0.0.1:1', 'auth.oidc_audience': 'a' },
      ...{ 'auth.keys_file': file, 'auth.failures_per_minute': 1 },
    });
    const issued = new Authenticator(ring, tokens, away, stored);
    expect(issued.isCurrent({ ...ANYBODY, keyId: 'oidc:alice' })).toBe(true);
    const claims = new SignJWT({ sub: 'a' }).setProtectedHeader({ alg: 'RS256', kid: 'k' });
    const { privateKey } = await generateKeyPair('RS256');
    const signed = await claims.sign(privateKey);
    for (let times = 0; times < 3; times++)
      await expect(
        issued.authenticateRequest(signed, { headers: {}, ip: 'away' }, true),
      ).rejects.toMatchObject({ code: 'issuer_unavailable' });
    const token = new UnsecuredJWT({}).encode();
    for (let times = 0; times < 2; times++) {
      const asked = issued.authenticateRequest(`${token}x`, { headers: {}, ip: 'issuer' }, true);
      await expect(asked).rejects.toMatchObject({
        code: times === 0 ? 'invalid_api_key' : 'rate_limit_exceeded',
      });
    }
    expect(() => issued.authenticate('sk-no-jwt')).toThrow('not valid');
  });
});
