import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const files = execFileSync(
  'git',
  ['ls-files', 'test', 'scripts', 'config', 'docker', 'package.json'],
  {
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter(file => /\.(ts|mjs|cjs|json|ya?ml)$|Dockerfile/.test(file));

const sourceOf = (path: string) =>
  path.startsWith('node_modules/')
    ? path.replace('node_modules/@switchyard', 'packages')
    : `src/${path}`;

/**
 * Paths of compiled files are strings, so moving a source file breaks them without an
 * error of the compiler.
 */
describe('paths of compiled files in tests, scripts and packaging', () => {
  it('each have a source file', () => {
    const stale = files.flatMap(file =>
      [
        ...readFileSync(file, 'utf8').matchAll(
          /\bdist\/((?:main|batch|cli|contracts|core|gateway|platform|worker|node_modules\/@switchyard)[\w./-]*)\.js\b/g,
        ),
      ]
        .filter(([, path = '']) => !existsSync(`${sourceOf(path)}.ts`))
        .map(([path]) => `${file}: ${path}`),
    );
    expect(stale).toEqual([]);
  });
});
