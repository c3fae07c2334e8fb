import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import {
  ConfigError,
  parseYaml,
  placed,
  problemText,
  readNamedFile,
  readYamlFile,
} from './yaml-file.js';

const folder = temporaryFolder();

describe('problems of the configuration', () => {
  it.each([
    [{}, 'models.yaml:1:1  is wrong'],
    [{ path: 'models[0].id' }, 'models.yaml:1:1  models[0].id: is wrong'],
    [{ path: 'models[0].id', value: 'tts' }, 'models.yaml:1:1  models[0].id = "tts": is wrong'],
    [{ value: 'tts' }, 'models.yaml:1:1  is wrong'],
    [
      { path: 'x', value: 'redis://:pw@r' },
      'models.yaml:1:1  x = "redis://[redacted]@r": is wrong',
    ],
  ])('are told with what is known of them, without passwords: %j', (known, text) => {
    expect(problemText({ origin: 'models.yaml:1:1', message: 'is wrong', ...known })).toBe(text);
  });

  it('are counted', () => {
    const problem = { origin: 'a', message: 'b' };
    expect(new ConfigError([problem]).message).toBe('The configuration has 1 problem:\n  a  b');
    expect(new ConfigError([problem, problem]).message).toMatch(/ has 2 problems:\n/);
  });
});

describe('a file that a setting names', () => {
  it('is read, or a problem that names the setting', () => {
    writeFileSync(join(folder, 'secret'), 'text');
    expect(readNamedFile(join(folder, 'secret'), 'auth.x').toString()).toBe('text');
    expect(() => readNamedFile(join(folder, 'none'), 'auth.x')).toThrow(
      /none {2}cannot be read \(ENOENT\); `auth\.x` names it/,
    );
  });
});

describe('a YAML file', () => {
  it.each(['none.yaml', 'file/none.yaml'])('is absent at %s', path => {
    writeFileSync(join(folder, 'file'), '');
    expect(readYamlFile(join(folder, path), 'name')).toBeUndefined();
  });

  it('that cannot be read is a problem', () => {
    mkdirSync(join(folder, 'folder'));
    const file = readYamlFile(join(folder, 'folder'), 'name')!;
    expect(file.problems).toEqual([{ origin: 'name', message: 'cannot be read (EISDIR)' }]);
    expect(file.originOf(file.document)).toBe('name');
  });

  it('names line and column of what is wrong in it', () => {
    writeFileSync(join(folder, 'twice.yaml'), 'a: 1\na: 2\n');
    const { problems } = readYamlFile(join(folder, 'twice.yaml'), 'twice.yaml')!;
    expect(problems).toEqual([
      { origin: 'twice.yaml:2:1', message: expect.stringContaining('unique') },
    ]);
  });

  it('knows the place of every part, and its own name for what it does not have', () => {
    const file = parseYaml('a:\n  - b: 1\n    c: 2\n', 'f');
    const node = file.document.contents;
    const at = (unknown: boolean, ...path: (string | number)[]) =>
      placed(file, { node, path: 'root' }, { path, message: 'm', ...(unknown && { unknown }) });
    expect(at(false, 'a', 0, 'c')).toEqual({ origin: 'f:3:8', path: 'root.a[0].c', message: 'm' });
    // An unknown field is wrong by its name, a part that is missing by what it is missing in.
    expect(at(true, 'a', 0, 'c').origin).toBe('f:3:5');
    expect(at(true, 'a', 0, 'none').origin).toBe('f:2:5');
    expect(at(false, 'a', 1, 'c').origin).toBe('f:2:3');
    expect(at(false, 'a', 0, 'b', 'd').origin).toBe('f:2:8');
    expect(at(true, 'a').origin).toBe('f:1:1');
    expect([file.originOf(undefined), file.originOf('text')]).toEqual(['f', 'f']);
    const keys = parseYaml('1: x\n2: y\n', 'f');
    const numbered = { node: keys.document.contents, path: '' };
    expect(placed(keys, numbered, { path: [2], message: 'm', unknown: true }).origin).toBe('f:2:1');
  });
});
