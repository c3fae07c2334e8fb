import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { filesBelow } from '../support/repository-files.js';

const FOLDERS = ['packages', 'src', 'test', 'docs', 'scripts', 'config', 'proto', 'docker'];
const TEXT = /\.(ts|mts|mjs|cjs|js|md|ya?ml|proto|py|json|html|css)$/;

const FILES = [
  ...filesBelow(FOLDERS, TEXT),
  ...readdirSync('.').filter(name => TEXT.test(name)),
].filter(
  name => !/docs\/site\/dist|package-lock|__pycache__|architecture\/references\.spec/.test(name),
);

/** `file: match` for every match. */
const matches = (pattern: RegExp) =>
  FILES.flatMap(file =>
    [...readFileSync(file, 'utf8').matchAll(pattern)].map(([found]) => `${file}: ${found}`),
  );

describe('references', () => {
  it('name only decisions that docs/decisions.md gives a reason for', () => {
    const decisions = readFileSync('docs/decisions.md', 'utf8');
    const defined = new Set([...decisions.matchAll(/^\*\*(D-\d+) /gm)].map(([, name]) => name));
    expect(defined).toContain('D-01');
    const unknown = matches(/\bD-\d+\b/g).filter(match => !defined.has(match.split(': ')[1]));
    expect(unknown).toEqual([]);
  });

  it('name no document that is not in the repository', () => {
    expect(matches(/\bseeds\/\w+|\b(?:LESSONS|FINDINGS)\b|\bCOMPAT "|\bDESIGN (?:§|")/g)).toEqual(
      [],
    );
  });
});
