import { describe, expect, it } from '@jest/globals';
import { InternalTokens } from './internal-tokens.js';
import { ShortLivedTokens } from './short-lived-tokens.js';

const SHARED = Buffer.alloc(32, 7);

describe('InternalTokens', () => {
  it('let a processor with the same shared secret act for a tenant, with inference only', () => {
    const principal = InternalTokens.sharing(SHARED).verify(InternalTokens.sharing(SHARED).mint('acme'));
    expect(principal).toEqual({ tenant: 'acme', keyId: undefined, scopes: new Set(['inference']) });
  });

  it('refuse those of another secret, and the short-lived tokens of the same shared one', () => {
    const tokens = InternalTokens.sharing(SHARED);
    const principal = { tenant: 'acme', scopes: new Set(['inference'] as const) };
    expect(tokens.verify(new InternalTokens().mint('acme'))).toBeUndefined();
    expect(tokens.verify(new ShortLivedTokens(SHARED).mint({ principal, scopes: [], ttlS: 9 }).token)).toBeUndefined();
    expect(new ShortLivedTokens(SHARED).verify(tokens.mint('acme'))).toBeUndefined();
  });
});
