import { describe, expect, it } from '@jest/globals';
import { firstKeysFile } from './first-keys-file.js';
import { type SettingPath, settingsFrom } from './settings.js';

const fileFor = (values: Partial<Record<SettingPath, string | boolean>>) =>
  firstKeysFile(settingsFrom({ 'data.dir': '/data', ...values }));

describe('without a keys file', () => {
  it.each(['127.0.0.1', '127.1.2.3', 'localhost', '::1'])(
    'a server on %s asks for no keys',
    host => {
      expect(fileFor({ 'server.host': host })).toBeUndefined();
    },
  );

  it.each(['0.0.0.0', '::', '10.0.0.5', 'gateway.lan', '127.evil.example'])(
    'a server on %s has one in its data folder, unless anonymous callers are allowed',
    host => {
      expect(fileFor({ 'server.host': host })).toBe('/data/keys.yaml');
      expect(fileFor({ 'server.host': host, 'auth.keys_file': 'keys.yaml' })).toBeUndefined();
      expect(fileFor({ 'server.host': host, 'auth.allow_anonymous': true })).toBeUndefined();
      expect(fileFor({ 'server.host': host, 'auth.key': 'a-key-of-its-own-1234' })).toBeUndefined();
    },
  );
});
