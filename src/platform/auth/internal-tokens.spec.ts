import { describe, expect, it } from '@jest/globals';
import {
  ShortLivedTokens,
  INTERNAL_KEY_ID,
  InternalTokens,
  internalTokens,
} from './short-lived-tokens.js';

const SECRET = Buffer.alloc(32, 7);
const HANDED = SECRET.toString('base64');

describe('InternalTokens', () => {
  it('let a processor act for a tenant, with inference only, at the gateway that handed it the secret', () => {
    const token = internalTokens({ tokenSecretFile: '' }, HANDED)!.tokenFor('acme');
    const principal = {
      tenant: 'acme',
      keyId: INTERNAL_KEY_ID,
      scopes: new Set(['inference']),
    };
    expect(new ShortLivedTokens(SECRET).verify(token)).toEqual(principal);
    expect(new ShortLivedTokens().verify(token)).toBeUndefined();
  });

  it('are made once per tenant, and anew ten minutes before their hour is over', () => {
    let nowMs = 1_000_000;
    const clock = () => nowMs;
    const tokens = new InternalTokens(new ShortLivedTokens(SECRET, clock), clock);
    const first = tokens.tokenFor('acme');
    expect(tokens.tokenFor('other')).not.toBe(first);
    nowMs += 50 * 60_000 - 1;
    expect(tokens.tokenFor('acme')).toBe(first);
    nowMs += 1;
    expect(tokens.tokenFor('acme')).not.toBe(first);
  });

  it('cannot be made without a secret', () => {
    expect(internalTokens({ tokenSecretFile: '' }, undefined)).toBeUndefined();
  });
});
