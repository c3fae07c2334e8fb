import { describe, expect, it } from '@jest/globals';
import { type SettingPath, settingsFrom } from '../config/settings.js';
import { doorProblems } from './door-checks.js';

const problems = (values: Partial<Record<SettingPath, string | boolean>>) =>
  doorProblems(settingsFrom(values), () => 'file:1').map(({ path, message }) => `${path}: ${message}`);

describe('the doors of the server', () => {
  it.each(['127.0.0.1', '127.1.2.3', 'localhost', '::1'])('may stand open on %s', host => {
    expect(problems({ 'server.host': host })).toEqual([]);
  });

  it.each(['0.0.0.0', '::', '10.0.0.5', 'gateway.lan', '127.evil.example'])('ask for keys on %s', host => {
    expect(problems({ 'server.host': host })).toEqual([expect.stringContaining('no API keys are set')]);
    expect(problems({ 'server.host': host, 'auth.keys_file': 'keys.yaml' })).toEqual([]);
    expect(problems({ 'server.host': host, 'auth.allow_anonymous': true })).toEqual([]);
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
