import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.ts') && !file.endsWith('.spec.ts') && !file.includes('/generated/'))
  .map(file => `src/${file}`);

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
    for (const file of sources)
      for (const name of exportedNames(file)) filesOf.set(name, [...(filesOf.get(name) ?? []), file]);
    expect([...filesOf].filter(([, files]) => files.length > 1)).toEqual([]);
  });
});
