import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { settingsFrom } from '../config/settings.js';
import { type KeyStore } from '../database/key-store.js';
import { Authenticator } from './authenticator.js';
import { KeyRing, StoredKeys } from './key-ring.js';
import { ANYBODY } from './principal.js';
import { INTERNAL_KEY_ID, internalTokens, ShortLivedTokens } from './short-lived-tokens.js';

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
  });
});
