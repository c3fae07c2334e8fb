import { readFileSync, writeFileSync } from 'node:fs';
import { REFERENCE_TABLES, withTables } from './reference-tables.js';

/** Brings the tables of the documentation up to date with the registries. */
for (const file of Object.keys(REFERENCE_TABLES)) {
  const before = readFileSync(file, 'utf8');
  const after = withTables(before, file);
  if (after !== before) writeFileSync(file, after);
  console.log(after === before ? `${file} is up to date` : `${file}: tables rewritten`);
}
