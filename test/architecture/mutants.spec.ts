import { existsSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { committedMutants, equivalentMutants } from '../../scripts/mutants/committed.mjs';

describe('the list of mutants', () => {
  // Throws where a text does not stand in its file exactly once.
  const mutants = committedMutants();

  it('has at least 40, all over src', () => {
    expect(mutants.length).toBeGreaterThanOrEqual(40);
    for (const area of ['src/core', 'src/gateway', 'src/platform', 'src/batch'])
      expect(mutants.filter(({ file }) => file.startsWith(area)).length).toBeGreaterThanOrEqual(5);
  });

  it('names specs that are there', () => {
    const named = mutants.flatMap(({ specs }) => specs);
    expect(named.filter(spec => !existsSync(spec))).toEqual([]);
  });

  it('is apart from changes that nobody can notice, each with the reason', () => {
    for (const { meaning } of equivalentMutants()) expect(meaning).toMatch(/\w+ \w+ \w+/);
  });
});
