import { describe, expect, it } from '@jest/globals';
import { loadConfig } from './load-config.js';
import { environmentName, type SettingPath } from './settings.js';
import { type ConfigError } from './yaml-file.js';

function problems(values: Partial<Record<SettingPath, string>>): readonly string[] {
  const environment = Object.entries(values).map(([path, value]) => [environmentName(path as SettingPath), value]);
  try {
    loadConfig({ environment: Object.fromEntries(environment) as NodeJS.ProcessEnv });
    return [];
  } catch (error) {
    return (error as ConfigError).problems.map(({ path, message }) => `${path}: ${message}`);
  }
}

describe('the configuration of the server', () => {
  it('refuses a host with a port or a path among `server.allowed_hosts`', () => {
    expect(problems({ 'server.allowed_hosts': 'gateway, 10.0.0.1, [::1], *' })).toEqual([]);
    expect(problems({ 'server.allowed_hosts': 'gateway:8000, a/b' })).toEqual([
      expect.stringContaining('`gateway:8000` is no host name'),
      expect.stringContaining('`a/b` is no host name'),
    ]);
  });

  it('refuses origins and Redis addresses that cannot be meant, without quoting a password', () => {
    const found = problems({ 'server.cors_origins': 'example.com', 'redis.url': 'http://:secret@redis' });
    expect(found).toEqual([
      expect.stringContaining('server.cors_origins: `example.com` is no origin'),
      expect.stringContaining('redis.url: must look like redis://'),
    ]);
    expect(found.join()).not.toContain('secret');
  });
});
