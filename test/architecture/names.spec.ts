import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { filesBelow, SOURCES } from '../support/repository-files.js';

const sources = filesBelow(['packages', 'src'], SOURCES);
/** What engine packages export by their contract. */
const CONTRACT = /^packages\/engine-[^/]+\/engine\.ts$/;

const exportedNames = (file: string): Set<string> =>
  new Set(
    [
      ...readFileSync(file, 'utf8').matchAll(
        /^export (?:abstract |async )?(?:class|interface|type|enum|const|let|function\*?) (\w+)/gm,
      ),
    ].map(([, name = '']) => name),
  );

describe('exported names', () => {
  it('mean one thing each: no name is exported by two files', () => {
    const filesOf = new Map<string, string[]>();
    for (const file of sources.filter(name => !CONTRACT.test(name) || name.includes('engine-api')))
      for (const name of exportedNames(file))
        filesOf.set(name, [...(filesOf.get(name) ?? []), file]);
    expect([...filesOf].filter(([, files]) => files.length > 1)).toEqual([]);
  });
});

describe('folders', () => {
  /**
   * `from to` for each folder that imports another one, parents and their own
   * subfolders left out.
   */
  const imports = new Set(
    sources.flatMap(file =>
      [...readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)]
        .map(([, path = '']) => [dirname(file), dirname(join(dirname(file), path))] as const)
        .filter(
          ([from, to]) => !`${from}/`.startsWith(`${to}/`) && !`${to}/`.startsWith(`${from}/`),
        )
        .map(pair => pair.join(' ')),
    ),
  );

  it('never import each other', () => {
    expect(imports.size).toBeGreaterThan(100);
    expect([...imports].filter(pair => imports.has(pair.split(' ').reverse().join(' ')))).toEqual(
      [],
    );
  });
});
