import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest, afterEach } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { type Principal, type Scope } from './principal.js';
import {
  ShortLivedTokens,
  INTERNAL_KEY_ID,
  internalTokens,
  sessionCookie,
  sessionToken,
  tokenSecret,
} from './short-lived-tokens.js';

const owner = (...scopes: Scope[]): Principal => ({
  keyId: 'k1',
  tenant: 'acme',
  scopes: new Set(scopes),
});

describe('short-lived tokens', () => {
  const tokens = new ShortLivedTokens(Buffer.alloc(32, 1));
  const minted = (held: Scope, scopes: readonly Scope[], content?: string) =>
    tokens.mint({ principal: owner(held), scopes, ttlS: 60, content });

  beforeAll(() => void jest.useFakeTimers({ now: 1_000_000 }));
  afterAll(() => void jest.useRealTimers());

  it('carry tenant, key and scopes until the second they expire', () => {
    const { token, expiresAt } = minted('inference', ['realtime']);
    expect(token).toMatch(/^ek_[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/);
    expect(expiresAt).toBe(1060);
    jest.setSystemTime(1_059_999);
    expect(tokens.verify(token)).toEqual({
      keyId: 'k1',
      tenant: 'acme',
      scopes: new Set(['realtime']),
    });
    jest.setSystemTime(1_060_000);
    expect(tokens.verify(token)).toBeUndefined();
  });

  it('are valid on while their secret is the previous one, and not after that', () => {
    const [before, now] = [Buffer.alloc(32, 2), Buffer.alloc(32, 3)];
    const order = { principal: owner('events'), scopes: ['events'], ttlS: 60 } as const;
    const { token } = new ShortLivedTokens(before).mint(order);
    expect(new ShortLivedTokens(now, before).verify(token)).toMatchObject({ tenant: 'acme' });
    expect(new ShortLivedTokens(now).verify(token)).toBeUndefined();
  });

  it('have one text: another one for the same signature is refused', () => {
    const { token } = minted('events', ['events']);
    const next = String.fromCharCode(token.charCodeAt(token.length - 1) + 1);
    const other = token.slice(0, -1) + next;
    const bytes = (text: string) => Buffer.from(text.split('.')[1] ?? '', 'base64url');
    expect(bytes(other)).toEqual(bytes(token));
    expect(tokens.verify(other)).toBeUndefined();
  });

  it('never grant more than their owner has', () => {
    const { token } = minted('events', ['realtime', 'admin', 'events']);
    expect(tokens.verify(token)?.scopes).toEqual(new Set(['events']));
  });

  it('carry what they were given, as long as they are valid', () => {
    jest.setSystemTime(1_000_000);
    const { token } = minted('inference', ['realtime'], '{"model":"m"}');
    expect(tokens.contentOf(token)).toBe('{"model":"m"}');
    expect(tokens.contentOf(minted('inference', ['realtime']).token)).toBeUndefined();
    expect(tokens.contentOf(`${token.slice(0, -2)}AA`)).toBeUndefined();
    expect(tokens.contentOf('sk-a-key')).toBeUndefined();
    jest.setSystemTime(1_060_000);
    expect(tokens.contentOf(token)).toBeUndefined();
  });

  it('are refused when one character differs, cut short, or signed with another secret', () => {
    const { token } = minted('inference', ['realtime']);
    for (let at = 0; at < token.length - 1; at++) {
      const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
      expect(tokens.verify(changed)).toBeUndefined();
    }
    for (const bad of ['', 'ek_', 'ek_.', token.slice(0, -1), `${token}.x`, token.slice(3)]) {
      expect(tokens.verify(bad)).toBeUndefined();
    }
    expect(new ShortLivedTokens(Buffer.alloc(32, 2)).verify(token)).toBeUndefined();
  });
});

const SECRET = Buffer.alloc(32, 7);
const HANDED = SECRET.toString('base64');

describe('InternalTokens', () => {
  afterEach(() => void jest.useRealTimers());

  it('let a processor act for a tenant, with inference only, at the gateway that handed it the secret', () => {
    const tokens = new ShortLivedTokens(tokenSecret('', HANDED)!);
    const token = internalTokens(tokens)('acme');
    const principal = { tenant: 'acme', keyId: INTERNAL_KEY_ID, scopes: new Set(['inference']) };
    expect(new ShortLivedTokens(SECRET).verify(token)).toEqual(principal);
    expect(new ShortLivedTokens(Buffer.alloc(32, 8)).verify(token)).toBeUndefined();
  });

  it('are made once per tenant, and anew ten minutes before their hour is over', () => {
    jest.useFakeTimers({ now: 1_000_000 });
    const tokenFor = internalTokens(new ShortLivedTokens(SECRET));
    const first = tokenFor('acme');
    expect(tokenFor('other')).not.toBe(first);
    jest.advanceTimersByTime(50 * 60_000 - 1);
    expect(tokenFor('acme')).toBe(first);
    jest.advanceTimersByTime(1);
    expect(tokenFor('acme')).not.toBe(first);
  });

  it('cannot be made without a secret', () => {
    expect(tokenSecret('', undefined)).toBeUndefined();
  });
});

describe('the session of the console', () => {
  it.each([
    ['switchyard_session=ek_a', 'ek_a'],
    ['other=1; switchyard_session=ek_a; more=2', 'ek_a'],
    ['other=1;switchyard_session=ek_a', 'ek_a'],
    ['not_switchyard_session=ek_a', undefined],
    ['switchyard_session=sk-key', undefined],
    ['switchyard_session=', undefined],
    [undefined, undefined],
  ])('of the cookies %p is %p', (cookie, token) => expect(sessionToken({ cookie })).toBe(token));

  it('is a cookie for 12 hours that no script and no other site sees; none after signing out', () => {
    const rest = 'HttpOnly; SameSite=Strict';
    expect(sessionCookie('ek_a', false)).toBe(
      `switchyard_session=ek_a; Path=/; Max-Age=43200; ${rest}`,
    );
    expect(sessionCookie('', true)).toBe(`switchyard_session=; Path=/; Max-Age=0; ${rest}; Secure`);
  });

  it('ends with the token that it was made from', () => {
    jest.useFakeTimers({ now: 1_000_000 });
    const tokens = new ShortLivedTokens(SECRET);
    const mint = (expiresAtMs?: number) =>
      tokens.mint({ principal: { ...owner('events'), expiresAtMs }, scopes: [], ttlS: 60 });
    expect(mint().expiresAt).toBe(1060);
    expect(mint(2_000_000).expiresAt).toBe(1060);
    expect(mint(1_005_999).expiresAt).toBe(1005);
    expect(tokens.expiryOf(mint(1_005_999).token)).toBe(1_005_000);
    expect(tokens.expiryOf('ek_none')).toBeUndefined();
    jest.useRealTimers();
  });
});

describe('the file of the secret', () => {
  const path = join(temporaryFolder(), 'signing');

  it('holds 32 bytes at least; what a gateway handed comes before it', () => {
    writeFileSync(path, 'x'.repeat(31));
    expect(() => tokenSecret(path)).toThrow('must hold at least 32 bytes');
    expect(tokenSecret(path, HANDED)).toEqual(SECRET);
    writeFileSync(path, 'x'.repeat(32));
    expect(tokenSecret(path)).toEqual(Buffer.from('x'.repeat(32)));
    expect(() => tokenSecret(`${path}-none`, undefined, 'auth.other')).toThrow('`auth.other`');
  });
});
