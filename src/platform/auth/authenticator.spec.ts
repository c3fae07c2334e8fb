import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { settingsFrom } from '../config/settings.js';
import { type KeyStore } from '../database/key-store.js';
import { Authenticator } from './authenticator.js';
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
  });
});

describe('a server with a file of keys', () => {
  const file = join(temporaryFolder(), 'keys.yaml');
  const { key } = addApiKey(file, { tenant: 'acme', scopes: ['inference'] });
  const settings = settingsFrom({ 'auth.keys_file': file });
  const stored = new StoredKeys({} as KeyStore);
  const tokens = new ShortLivedTokens(randomBytes(32));
  const authenticator = new Authenticator(new KeyRing(settings, stored), tokens, settings, stored);

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
});
