import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';

const folder = temporaryFolder();
const usual = Error.prepareStackTrace;
let named: typeof usual;
beforeAll(async () => {
  await import('./source-lines.js');
  named = Error.prepareStackTrace;
  Error.prepareStackTrace = usual;
});
afterAll(() => void (Error.prepareStackTrace = usual));

/** The stack of an error of a built file with that map. */
function stackOf(name: string, map?: string): string {
  const path = join(folder, name);
  if (map !== undefined) writeFileSync(`${path}.map`, map);
  const frame = { toString: () => `fail (${pathToFileURL(path).href}:3:5)` };
  return String(named!(new TypeError('x'), [frame, { toString: () => 'node:fs:1:2' }] as never));
}

it('lines of stack traces are those of the sources', () => {
  // One mapping: line 3, column 1 of the built file is line 7, column 1 of the source.
  const map = { version: 3, sources: ['../../src/a.ts'], names: [], mappings: ';;AAMA' };
  const stack = stackOf('a.js', JSON.stringify(map));
  expect(stack).toMatch(/^TypeError: x\n {4}at fail \(src\/a\.ts:7:\d+\)\n {4}at node:fs:1:2$/);
  writeFileSync(join(folder, 'a.js.map'), '');
  expect(stackOf('a.js')).toBe(stack);
});

it.each([
  ['missing', undefined],
  ['broken', '{'],
  ['empty', JSON.stringify({ version: 3, sources: [], names: [], mappings: '' })],
])('they stay those of the built file where its map is %s', (name, map) => {
  expect(stackOf(`${name}.js`, map)).toContain(`/${name}.js:3:5)`);
});
