import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, it } from '@jest/globals';

const { forbidden } = createRequire(import.meta.url)('../../config/dependency-cruiser.cjs') as {
  readonly forbidden: readonly {
    readonly name: string;
    readonly to: { readonly pathNot?: string };
  }[];
};

it('what others may import of a folder is what its README says', () => {
  const faces = forbidden.filter(({ name }) => name.endsWith('-has-a-face'));
  expect(faces.length).toBeGreaterThan(5);
  const files = faces.map(({ name, to }) => [
    name,
    /\((.+)\)/
      .exec(to.pathNot ?? '')?.[1]
      ?.split('|')
      .sort(),
  ]);
  const said = faces.map(({ name }) => {
    const folder = name.replace(/^gateway-|-has-a-face$/g, '');
    const readme = readFileSync(`src/gateway/${folder}/README.md`, 'utf8');
    const [sentence = ''] = /thers may import[^.]*(?:\.\w[^.]*)*\./.exec(readme) ?? [];
    return [name, [...sentence.matchAll(/`([\w.-]+)`/g)].map(([, file]) => file).sort()];
  });
  expect(said).toEqual(files);
});
