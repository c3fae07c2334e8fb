import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Authenticator } from './authenticator.js';
import {
  ShortLivedTokens,
  INTERNAL_KEY_ID,
  InternalTokens,
} from './short-lived-tokens.js';
import { KeyRing } from './key-ring.js';
import { ANYBODY } from './principal.js';

describe('a server that asks for no keys', () => {
  const tokens = new ShortLivedTokens(randomBytes(32));
  const authenticator = new Authenticator(new KeyRing(''), tokens);

  it('takes everybody for anybody, whatever they show', () => {
    const stranger = new InternalTokens(new ShortLivedTokens(randomBytes(32))).tokenFor(
      'default',
    );
    for (const token of [undefined, 'sk-anything', stranger])
      expect(authenticator.authenticate(token)).toBe(ANYBODY);
  });

  it('knows its own processes, which may do no less than anybody', () => {
    const own = authenticator.authenticate(
      new InternalTokens(tokens).tokenFor('default'),
    );
    expect(own).toEqual({ ...ANYBODY, keyId: INTERNAL_KEY_ID });
  });
});
