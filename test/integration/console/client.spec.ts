import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { consoleClient } from '../../../scripts/console/client-types.js';
import { CONSOLE, describeWith } from '../../support/requires.js';

describeWith(CONSOLE)("the console's client", () => {
  it('is written from the OpenAPI document as it is (npm run docs)', async () => {
    const written = await readFile('console/src/api/schema.ts', 'utf8');
    expect(await consoleClient()).toBe(written);
  });
});
