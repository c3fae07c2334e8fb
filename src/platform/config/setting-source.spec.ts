import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { loadConfig, takeSettingsFile } from './load-config.js';
import { redacted } from './redaction.js';
import { isSecretSetting, SettingSources } from './setting-source.js';
import { type SettingPath } from './settings.js';
import { parseYaml, problemText } from './yaml-file.js';

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

const withFile = (text: string): SettingSources => {
  const sources = new SettingSources();
  takeSettingsFile(parseYaml(text, 'x.yaml'), sources);
  return sources;
};

describe('the value of a setting in a file', () => {
  it.each(['[127.0.0.1, b]', '\n    - 127.0.0.1\n    - b', '{ a: b }'])(
    'is no list and no object, also where it is text: %j',
    value => {
      const { problems } = withFile(`server:\n  host: ${value}\n`);
      expect(problems.map(problemText)).toEqual([
        'x.yaml:2:3  server.host: must be one value; several are one text with commas: `a, b`',
      ]);
    },
  );

  it('is what an anchor names, and not there where nothing is written', () => {
    const named = withFile('server:\n  host: &h 127.0.0.2\nredis:\n  prefix: *h\n');
    expect(named.get('redis.prefix')?.value).toBe('127.0.0.2');
    const absent = withFile('server: { host }\n');
    expect(absent.problems.map(problemText)[0]).toContain('server.host = null: must be text');
  });
});

describe('the sources of the settings', () => {
  it.each(['server:\n  # port: 1\n', 'server:\n', '', '# nothing\n'])(
    'may be a file in which all is commented out: %j',
    text => expect(withFile(text).problems).toEqual([]),
  );

  it.each([
    ['- server\n', 'must hold sections, such as `queue:`'],
    ['server: 5\n', 'must hold settings, one per line'],
    ['server: [port]\n', 'must hold settings, one per line'],
    ['server:\n  port: { a: 1 }\n', 'must be one value'],
  ])('are no file that holds %j', (text, message) => {
    expect(withFile(text).problems).toEqual([
      expect.objectContaining({ message: expect.stringContaining(message) }),
    ]);
  });

  it('are read alone where no models are wanted, or beside the models of another file', () => {
    const directory = temporaryFolder();
    const alone = loadConfig({ directory, environment: { PORT: '' }, settingsOnly: true });
    expect([alone.models, alone.settings.server.port]).toEqual([[], 8000]);
    const model = '{ id: m, kind: stt, engine: synthetic, capabilities: [] }';
    writeFileSync(join(directory, 'other.yaml'), `models: [${model}]`);
    const other = loadConfig({ directory, environment: {}, modelsFile: 'other.yaml' });
    expect(other.models.map(({ id }) => id)).toEqual(['m']);
  });

  it('tell their secrets, which are shown nowhere from then on', () => {
    const environment = { SWITCHYARD_AUTH_KEY: 'a-key-of-its-own-4321' };
    loadConfig({ directory: temporaryFolder(), environment, settingsOnly: true });
    expect(redacted('it was a-key-of-its-own-4321')).toBe('it was [redacted]');
  });
});
