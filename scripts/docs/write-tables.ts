import { readFileSync, writeFileSync } from 'node:fs';
import { README_TABLES, withTables } from './readme-tables.js';

/** Brings the tables of the READMEs up to date with the registries. */
for (const file of Object.keys(README_TABLES)) {
  const before = readFileSync(file, 'utf8');
  const after = withTables(before, file);
  if (after !== before) writeFileSync(file, after);
  console.log(after === before ? `${file} is up to date` : `${file}: tables rewritten`);
}
