import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { transformSync } from '@swc/core';
import { filesBelow, SOURCES } from '../support/repository-files.js';

/** What Nest reads of each constructor and handler to know what to inject. */
const PARAMETERS = /"design:paramtypes", \[([^\]]*)\]/g;

/** The lists of `design:paramtypes` with a parameter whose type is lost. */
const untyped = (code: string) =>
  [...code.matchAll(PARAMETERS)]
    .map(([, list = '']) => list)
    .filter(list => list.includes('void 0'));

const compiled = (source: string, filename: string) =>
  transformSync(source, { filename, configFile: '.swcrc', sourceMaps: false }).code;

describe('parameters that Nest injects', () => {
  it('have a type, without which each start warns of an undefined dependency', () => {
    const decorated = filesBelow(['src'], SOURCES)
      .map(file => ({ file, text: readFileSync(file, 'utf8') }))
      .filter(({ text }) => /^ *@[A-Z]/m.test(text));
    expect(decorated.length).toBeGreaterThan(100);
    const suspects = decorated.filter(({ file, text }) => untyped(compiled(text, file)).length > 0);
    expect(suspects.map(({ file }) => file)).toEqual([]);
  });

  it('are found where a default stands in for the type', () => {
    const source = `@Injectable() class A { constructor(b: B, @Optional() readonly c = other) {} }`;
    expect(untyped(compiled(source, 'src/a.ts'))).toHaveLength(1);
  });
});

describe('class-validator', () => {
  it('is used by what it exports: no file inside it is imported', () => {
    const files = filesBelow(['packages', 'src'], SOURCES);
    const deep = files.filter(file =>
      readFileSync(file, 'utf8').includes("from 'class-validator/"),
    );
    expect(deep).toEqual([]);
  });
});
