import { readFileSync, writeFileSync } from 'node:fs';
import { FILE_SCHEMAS } from '../../src/cli/operate/file-schemas.js';
import { settingsFile } from '../../src/cli/operate/settings-file.js';
import { BASIC_SETTINGS } from '../../src/platform/config/settings.js';
import { benchPlots } from './bench-plots.js';
import { LAYERS_PICTURE, layersSvg } from './layers.js';
import { REFERENCE_TABLES, withTables } from './reference-tables.js';

/**
 * Brings the tables of the documentation, the settings file and the schemas of the configuration up to date
 * with the registries, the pictures of benches with their kept results, and the picture of
 * the folders with the imports.
 */
for (const file of Object.keys(REFERENCE_TABLES)) {
  const before = readFileSync(file, 'utf8');
  const after = withTables(before, file);
  if (after !== before) writeFileSync(file, after);
  console.log(after === before ? `${file} is up to date` : `${file}: tables rewritten`);
}
for (const [name, schema] of Object.entries(FILE_SCHEMAS)) {
  writeFileSync(`config/schema/${name}.schema.json`, `${JSON.stringify(schema(), null, 2)}\n`);
}
writeFileSync('config/switchyard.yaml', settingsFile(BASIC_SETTINGS));
for (const { file, svg } of await benchPlots()) writeFileSync(file, svg);
writeFileSync(LAYERS_PICTURE, layersSvg());
