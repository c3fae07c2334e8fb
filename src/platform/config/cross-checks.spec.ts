import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { assertDataWritable, crossProblems } from './cross-checks.js';
import { loadConfig } from './load-config.js';
import { SettingSources } from './setting-source.js';
import { environmentName, requiresKeys, type SettingPath, settingsFrom } from './settings.js';
import { type ConfigError, type ConfigProblem } from './yaml-file.js';

function faults(values: Partial<Record<SettingPath, string>>): readonly ConfigProblem[] {
  const environment = Object.entries(values).map(([path, value]) => [
    environmentName(path as SettingPath),
    value,
  ]);
  try {
    const modelsFile = 'config/models.yaml';
    loadConfig({ environment: Object.fromEntries(environment) as NodeJS.ProcessEnv, modelsFile });
    return [];
  } catch (error) {
    return (error as ConfigError).problems;
  }
}

const problems = (values: Partial<Record<SettingPath, string>>) =>
  faults(values).map(({ path, message }) => `${path}: ${message}`);

describe('the configuration of the server', () => {
  it('takes an upload as large as the queue, and no larger one; the fault is with what was set', () => {
    const limit = { 'server.upload_limit_bytes': '5000000' };
    expect(problems({ ...limit, 'queue.max_bytes': '5000000' })).toEqual([]);
    expect(faults({ ...limit, 'queue.max_bytes': '4999999' })).toEqual([
      expect.objectContaining({
        path: 'server.upload_limit_bytes',
        origin: 'SWITCHYARD_SERVER_UPLOAD_LIMIT_BYTES',
        value: 5_000_000,
      }),
    ]);
    const sources = new SettingSources();
    sources.take('queue.max_bytes', '1048576', 'here');
    expect(crossProblems(settingsFrom({}), sources, temporaryFolder())).toEqual([
      expect.objectContaining({ path: 'server.upload_limit_bytes', origin: 'here' }),
    ]);
  });

  it('takes one fit key beside no file and no open door, and never shows it', () => {
    const key = 'k'.repeat(16);
    expect(problems({ 'auth.key': key })).toEqual([]);
    expect(problems({ 'auth.allow_anonymous': 'true', 'auth.keys_file': '' })).toEqual([]);
    expect(faults({ 'auth.key': 'short' })).toEqual([
      expect.objectContaining({ path: 'auth.key', value: undefined }),
    ]);
    expect(problems({ 'auth.key': key, 'auth.allow_anonymous': 'true' })).toEqual([
      expect.stringContaining('auth.key: contradicts auth.allow_anonymous (SWITCHYARD_AUTH'),
    ]);
    expect(problems({ 'auth.key': key, 'auth.keys_file': 'keys.yaml' })).toEqual([
      expect.stringContaining('auth.key: cannot be combined with auth.keys_file'),
    ]);
  });

  it('looks whether the data folder may be written, and leaves nothing there', () => {
    const folder = temporaryFolder();
    const sources = new SettingSources();
    sources.take('data.dir', join(folder, 'a', 'b'), 'here');
    assertDataWritable(sources);
    expect(readdirSync(folder)).toEqual([]);
    sources.take('data.dir', '/proc/none', 'here');
    expect(() => assertDataWritable(sources)).toThrow(/here {2}data\.dir = .*may not be written/);
  });

  it('refuses a host with a port or a path among `server.allowed_hosts`', () => {
    expect(problems({ 'server.allowed_hosts': 'gateway, 10.0.0.1, [::1], *' })).toEqual([]);
    expect(problems({ 'server.allowed_hosts': 'gateway:8000, a/b' })).toEqual([
      expect.stringContaining('`gateway:8000` is no host name'),
      expect.stringContaining('`a/b` is no host name'),
    ]);
  });

  it('takes an issuer over https, or on loopback, with an audience and asymmetric algorithms only', () => {
    const named = (values: Partial<Record<SettingPath, string>>) =>
      problems({
        'auth.oidc_issuer': 'https://login.example/main',
        'auth.oidc_audience': 'switchyard',
        ...values,
      });
    expect(named({})).toEqual([]);
    expect(named({ 'auth.oidc_issuer': 'http://127.0.0.1:9000' })).toEqual([]);
    for (const issuer of [
      'http://login.example',
      'https://user:secret@login.example',
      'https://user@login.example',
      'https://:secret@login.example',
      'login.example',
    ])
      expect(named({ 'auth.oidc_issuer': issuer })).toEqual([
        expect.stringMatching(/^auth.oidc_issuer: must be an h/),
      ]);
    expect(named({ 'auth.oidc_jwks_url': 'http://10.0.0.1/keys' })).toEqual([
      expect.stringContaining('auth.oidc_jwks_url: must be an https URL'),
    ]);
    expect(named({ 'auth.oidc_audience': '' })).toEqual([
      expect.stringContaining('auth.oidc_audience: is required'),
    ]);
    expect(named({ 'auth.oidc_algorithms': 'RS256, HS256, none' })).toEqual([
      expect.stringContaining('`HS256` must be RS, PS or ES'),
      expect.stringContaining('`none` must be RS, PS or ES'),
    ]);
  });

  it('refuses origins and Redis addresses that cannot be meant, without quoting a password', () => {
    const found = problems({
      'server.cors_origins': 'example.com',
      'redis.url': 'http://:secret@redis',
    });
    expect(found).toEqual([
      expect.stringContaining('server.cors_origins: `example.com` is no origin'),
      expect.stringContaining('redis.url: must look like redis://'),
    ]);
    expect(found.join()).not.toContain('secret');
  });

  it('refuses Sentinels beside an address, or without the name of their Redis, by both names', () => {
    const behind = { 'redis.sentinels': 'redis://:pw@s1,s2:26379', 'redis.master_name': 'mine' };
    expect(problems({ ...behind, 'queue.driver': 'redis' })).toEqual([]);
    expect(problems({ ...behind, 'redis.url': 'redis://r' })).toEqual([
      'redis.sentinels: must be empty, or else redis.url, which would not be used',
    ]);
    for (const part of Object.entries(behind))
      expect(problems(Object.fromEntries([part]))).toEqual([
        'redis.master_name: goes with redis.sentinels: both are set, or none',
      ]);
    expect(problems({ ...behind, 'redis.sentinels': 's1:26379' })).toEqual([
      'redis.sentinels: must look like redis://s1:26379,s2:26379,s3:26379',
    ]);
    for (const none of ['redis://a,b', 'redis://a/main', 'redis://:100%@a', 'redis://:%ff@a'])
      expect(problems({ 'redis.url': none })).toEqual([
        expect.stringContaining('redis.url: must look like'),
      ]);
  });

  it.each(['10.0.0.0/33', '10.0.0.0/x', '::1/129', 'name/8', '1.2.3.4/8/8'])(
    'refuses %s as a network',
    network => {
      expect(problems({ 'auth.forwarded_users_from': `webui, 10.0.0.0/8, ${network}` })).toEqual([
        expect.stringContaining(
          `auth.forwarded_users_from: \`${network}\` is no network such as 10.1.0.0/16`,
        ),
      ]);
    },
  );
});

describe('keys', () => {
  it.each<[SettingPath, string | boolean]>([
    ['auth.keys_file', 'keys.yaml'],
    ['auth.key', 'k'.repeat(32)],
    ['auth.oidc_issuer', 'https://login.example/main'],
    ['auth.required', true],
  ])('are required with %s alone', (path, value) => {
    expect(requiresKeys(settingsFrom({}))).toBe(false);
    expect(requiresKeys(settingsFrom({ [path]: value }))).toBe(true);
  });
});
