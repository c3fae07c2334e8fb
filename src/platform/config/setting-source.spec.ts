import { describe, expect, it } from '@jest/globals';
import { takeSettingsFile } from './load-config.js';
import { SettingSources } from './setting-source.js';
import { parseYaml, problemText } from './yaml-file.js';

const sourcesOf = (text: string): SettingSources => {
  const sources = new SettingSources();
  takeSettingsFile(parseYaml(text, 'x.yaml'), sources);
  return sources;
};

describe('the value of a setting in a file', () => {
  it.each(['[127.0.0.1, b]', '\n    - 127.0.0.1\n    - b', '{ a: b }'])(
    'is no list and no object, also where it is text: %j',
    value => {
      const { problems } = sourcesOf(`server:\n  host: ${value}\n`);
      expect(problems.map(problemText)).toEqual([
        'x.yaml:2:3  server.host: must be one value; several are one text with commas: `a, b`',
      ]);
    },
  );

  it('is what an anchor names, and not there where nothing is written', () => {
    const named = sourcesOf('server:\n  host: &h 127.0.0.2\nredis:\n  prefix: *h\n');
    expect(named.get('redis.prefix')?.value).toBe('127.0.0.2');
    const absent = sourcesOf('server: { host }\n');
    expect(absent.problems.map(problemText)[0]).toContain('server.host = null: must be text');
  });
});
