import { readFileSync, writeFileSync } from 'node:fs';
import { withTables } from './readme-tables.js';

/** `npm run docs`: brings the tables of README.md up to date with the registries. */
const before = readFileSync('README.md', 'utf8');
const after = withTables(before);
if (after !== before) writeFileSync('README.md', after);
console.log(after === before ? 'README.md is up to date' : 'README.md: tables rewritten');
