import { describe, expect, it } from '@jest/globals';
import { type SettingPath, settingsFrom } from '../config/settings.js';
import { doorProblems } from './door-checks.js';

const problems = (values: Partial<Record<SettingPath, string | boolean>>) =>
  doorProblems(settingsFrom(values), () => 'file:1').map(({ path, message }) => `${path}: ${message}`);

describe('the doors of the server', () => {
  it('refuse a host with a port or a path among `server.allowed_hosts`', () => {
    expect(problems({ 'server.allowed_hosts': 'gateway, 10.0.0.1, [::1], *' })).toEqual([]);
    expect(problems({ 'server.allowed_hosts': 'gateway:8000, a/b' })).toEqual([
      expect.stringContaining('`gateway:8000` is no host name'),
      expect.stringContaining('`a/b` is no host name'),
    ]);
  });

  it('refuse origins and Redis addresses that cannot be meant, without quoting a password', () => {
    const found = problems({ 'server.cors_origins': 'example.com', 'redis.url': 'http://:secret@redis' });
    expect(found).toEqual([
      expect.stringContaining('server.cors_origins: `example.com` is no origin'),
      expect.stringContaining('redis.url: must look like redis://'),
    ]);
    expect(found.join()).not.toContain('secret');
  });
});
