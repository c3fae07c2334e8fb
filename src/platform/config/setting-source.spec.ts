import { describe, expect, it } from '@jest/globals';
import { isSecretSetting, SettingSources } from './setting-source.js';
import { type SettingPath } from './settings.js';

describe('a setting', () => {
  it.each<[SettingPath, unknown, unknown]>([
    ['server.port', '8001', 8001],
    ['server.port', ' 8001 ', 8001],
    ['server.port', 8001, 8001],
    ['server.host', ' ::1 ', '::1'],
    ['server.host', 'true', 'true'],
    ['auth.allow_anonymous', 'true', true],
    ['auth.allow_anonymous', 'false', false],
    ['auth.allow_anonymous', true, true],
    ['logging.pretty', true, 'true'],
    ['logging.pretty', false, 'false'],
  ])('%s takes %p as %p, with its origin', (path, raw, value) => {
    const sources = new SettingSources();
    expect(sources.get(path)?.origin).toBe('default');
    sources.take(path, raw, 'here');
    expect(sources.get(path)).toEqual({ value, origin: 'here' });
    expect(sources.problems).toEqual([]);
  });

  it.each<[SettingPath, unknown]>([
    ['server.port', ''],
    ['server.port', 'x'],
    ['server.port', true],
    ['auth.allow_anonymous', 'yes'],
    ['auth.allow_anonymous', ''],
    ['auth.allow_anonymous', 1],
    ['server.host', true],
  ])('%s refuses %p and stays as it was', (path, raw) => {
    const sources = new SettingSources();
    const before = sources.get(path);
    sources.take(path, raw, 'here');
    expect(sources.get(path)).toEqual(before);
    expect(sources.problems).toEqual([
      { origin: 'here', path, value: raw, message: expect.stringMatching(/^must be .*\(default /) },
    ]);
  });

  it.each<[SettingPath, boolean]>([
    ['auth.key', true],
    ['database.url', true],
    ['auth.keys_file', false],
  ])('%s is a secret: %p', (path, isSecret) => expect(isSecretSetting(path)).toBe(isSecret));
});
