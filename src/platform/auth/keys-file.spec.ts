import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { settingsFrom } from '../config/settings.js';
import { ConfigError } from '../config/yaml-file.js';
import { type KeyStore } from '../database/key-store.js';
import { KeyRing } from './key-ring.js';
import { keyDigest } from './key-secret.js';
import { addApiKey, readKeysFile } from './keys-file.js';
import { StoredKeys } from './stored-keys.js';

const ringOf = (path: string) =>
  new KeyRing(settingsFrom({ 'auth.keys_file': path }), new StoredKeys({} as KeyStore));
const HASH = keyDigest('sk-any');

describe('the keys file', () => {
  let path: string;
  beforeEach(() => {
    path = join(temporaryFolder(), 'keys.yaml');
  });

  const problems = (text: string) => {
    writeFileSync(path, text);
    try {
      return readKeysFile(path) && [];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return error.problems.map(
        ({ origin, path: at, message }) => `${origin.split(':')[1]} ${at ?? ''} ${message}`,
      );
    }
  };

  it('is made for the user alone, and never holds the key', () => {
    const { key, entry } = addApiKey(path, { tenant: 'acme', scopes: ['inference'] });
    expect(readKeysFile(path)).toEqual([entry]);
    expect(entry.sha256).toBe(keyDigest(key));
    expect(readFileSync(path, 'utf8')).not.toContain(key);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('keeps entries and comments when a key is added', () => {
    writeFileSync(
      path,
      `# ours\nkeys:\n  - { id: old, tenant: t, scopes: [admin], sha256: ${HASH} } # first\n`,
    );
    addApiKey(path, { tenant: 'acme', scopes: ['inference', 'events'] });
    expect(readKeysFile(path).map(({ tenant }) => tenant)).toEqual(['t', 'acme']);
    expect(readFileSync(path, 'utf8')).toMatch(/^# ours\n[^]*# first/);
  });

  it('is made with its folder, one entry a line, and private whatever lay there before', () => {
    const inner = join(path, '..', 'made', 'keys.yaml');
    addApiKey(inner, { tenant: 'acme', scopes: ['admin'], limits: { requests_per_minute: 1 } });
    expect(readFileSync(inner, 'utf8')).toMatch(/^keys:\n {2}- id: key_/);
    writeFileSync(`${path}.new`, 'of a command that was ended', { mode: 0o644 });
    addApiKey(path, { tenant: 'acme', scopes: ['admin'] });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.each(['keys: 5\n', '[]', 'keys: []\nkeys: []\n', 'keys: []\nmore: 1\n'])(
    'that is %j has one problem, and takes no key',
    text => {
      expect(problems(text)).toHaveLength(1);
      expect(() => addApiKey(path, { tenant: 'acme', scopes: ['admin'] })).toThrow(ConfigError);
      expect(readFileSync(path, 'utf8')).toBe(text);
    },
  );

  it('is refused with every problem and its line, never quoting what may be a key', () => {
    const found = problems(
      `keys:\n  - { id: a, tenant: 'two words', scopes: [root], sha256: sk-oops }\n` +
        `  - { id: b, key: sk-oops, tenant: t, scopes: [admin], sha256: ${HASH} }\n`,
    );
    expect(found).toEqual([
      expect.stringMatching(/^2 keys\[0\]\.tenant must be 1 to 64 letters/),
      '2 keys[0].scopes[0] must be one of inference, admin, events',
      expect.stringMatching(/^2 keys\[0\]\.sha256 must be 64 hexadecimal digits/),
      expect.stringMatching(/^3 keys\[1\]\.key no such field/),
    ]);
    expect(found.join()).not.toContain('sk-oops');
  });

  it('may give a key limits of its own, known ones in whole numbers', () => {
    const limits = { requests_per_minute: 60, requests_per_day: 9 };
    const { entry } = addApiKey(path, { tenant: 'acme', scopes: ['inference'], limits });
    expect(readKeysFile(path)).toEqual([entry]);
    expect(ringOf(path).limitsOf(entry.id)).toEqual({ requestsPerMinute: 60, requestsPerDay: 9 });
    for (const wrong of [
      '{ requests_per_hour: 1 }',
      '{ concurrent_requests: 0 }',
      '{ requests_per_minute: -1 }',
      '{ requests_per_minute: 0.5 }',
      '60',
    ])
      expect(
        problems(
          `keys: [{ id: a, tenant: t, scopes: [admin], sha256: ${HASH}, limits: ${wrong} }]`,
        ),
      ).toEqual([
        expect.stringMatching(
          /keys\[0\]\.limits must be pairs out of requests_per_day, requests_per_minute/,
        ),
      ]);
  });

  it('bounds the deadlines of a key, which 0 would not', () => {
    const limits = (ms: number) => ({ max_deadline_ms: ms });
    const add = (ms: number) =>
      addApiKey(path, { tenant: 'acme', scopes: ['inference'], limits: limits(ms) });
    const { key, entry } = add(5000);
    const ring = ringOf(path);
    expect(ring.find(key)?.terms?.maxDeadlineMs).toBe(5000);
    expect(ring.limitsOf(entry.id)).toBeUndefined();
    expect(() => add(0)).toThrow('from 1 to 1e9; leave out what is not limited');
  });

  it('gives a tenant the largest weight of its keys, 1 to 1000, and follows the file', () => {
    addApiKey(path, { tenant: 'acme', scopes: ['inference'] });
    const ring = ringOf(path);
    expect([ring.weightOf('acme'), ring.weightOf('unknown')]).toEqual([1, 1]);
    for (const weight of [3, 2])
      addApiKey(path, { tenant: 'acme', scopes: ['inference'], limits: { weight } });
    const { entry } = addApiKey(path, {
      tenant: 'large',
      scopes: ['inference'],
      limits: { weight: 5000 },
    });
    ring.reload();
    expect([ring.weightOf('acme'), ring.weightOf('large'), ring.weightOf('unknown')]).toEqual([
      3, 1000, 1,
    ]);
    // A key with a weight alone is counted with its tenant.
    expect(ring.limitsOf(entry.id)).toBeUndefined();
  });

  it('is refused when an id is there twice, when it is empty, and when it is missing', () => {
    const entry = `{ id: a, tenant: t, scopes: [admin], sha256: ${HASH} }`;
    expect(problems(`keys: [${entry}, ${entry}]`)).toEqual([
      expect.stringContaining('"a" is there twice'),
    ]);
    expect(problems('')).toEqual([expect.stringContaining('must hold `keys:`')]);
    rmSync(path);
    expect(() => readKeysFile(path)).toThrow(
      /cannot be read \(ENOENT\); `auth.keys_file` names it/,
    );
  });
});
