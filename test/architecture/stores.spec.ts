import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { filesBelow, SOURCES } from '../support/repository-files.js';

const STORES = /(?:from|import\() *'(ioredis|bullmq|pg|kysely[^']*|@aws-sdk\/[^']*|node:sqlite)'/g;
const TYPES_ONLY = /^import (type |\{( type [^,}]+,?)+ \} )/;

/**
 * Where the errors of a store become ours (D-52); the pull worker opens its own connections, and
 * the shared queue is given those of its two ends.
 */
const ADAPTERS = [
  'packages/shared-queue/',
  'src/platform/database/',
  'src/platform/storage/',
  'src/platform/redis/',
  'src/worker/pull/',
];

const uses = filesBelow(['packages', 'src'], SOURCES).flatMap(file =>
  readFileSync(file, 'utf8')
    .split(/;\n/)
    .map(statement => statement.replaceAll(/\s+/g, ' ').trim())
    .flatMap(statement =>
      [...statement.matchAll(STORES)].map(([, name]) => ({ file, name, statement })),
    ),
);

describe('libraries of stores', () => {
  it('are used by adapters only: their errors cannot be thrown anywhere else', () => {
    expect(uses.length).toBeGreaterThan(10);
    const beyond = uses.filter(
      ({ file, statement }) =>
        !TYPES_ONLY.test(statement) && !ADAPTERS.some(place => file.startsWith(place)),
    );
    expect(beyond).toEqual([]);
  });
});
