import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  INTERNAL_KEY_ID,
  internalTokens,
  ShortLivedTokens,
  tokenSecret,
} from './short-lived-tokens.js';

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
