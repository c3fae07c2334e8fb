import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { firstKeysFile } from './first-keys-file.js';
import { loadConfig } from './load-config.js';
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

  it('asks for keys beyond loopback: of a first file of its own, or of a shared database', () => {
    const directory = temporaryFolder();
    const beyond = { SWITCHYARD_SERVER_HOST: '0.0.0.0', SWITCHYARD_DATA_DIR: join(directory, 'd') };
    const shared = { ...beyond, DATABASE_URL: 'postgres://db/name' };
    const asks = (environment: Record<string, string>) => {
      const { auth } = loadConfig({ directory, environment, settingsOnly: true }).settings;
      return [auth.required, auth.keysFile !== ''];
    };
    expect(asks(beyond)).toEqual([false, true]);
    expect(asks(shared)).toEqual([true, false]);
    const { keysFile } = loadConfig({ directory, environment: beyond, settingsOnly: true }).settings
      .auth;
    mkdirSync(join(directory, 'd'));
    writeFileSync(keysFile, 'keys: []');
    expect(asks(shared)).toEqual([false, true]);
  });
});
