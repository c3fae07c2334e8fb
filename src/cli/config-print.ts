import { parseArgs } from 'node:util';
import { ConfigError } from '../platform/config/config-problem.js';
import { configRows, configTable } from '../platform/config/config-rows.js';
import { loadConfig } from '../platform/config/load-config.js';
import { replicaSpecs } from '../platform/config/model-spec.js';

const HELP = `npm run config:print [-- --json]

Shows every setting with its effective value and where it came from: default, file:line or environment variable.
A * marks a value that differs from its default. With --json: settings and models for other programs.`;

function main(): void {
  const { values } = parseArgs({ options: { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } });
  if (values.help) return console.log(HELP);
  const config = loadConfig();
  const settings = configRows(config);
  if (values.json) return console.log(JSON.stringify({ settings, models: config.models }, null, 2));
  console.log(configTable(settings));
  const models = config.models.map(
    model => `  ${model.id}  ${model.kind}, ${model.engine}, ${replicaSpecs(model).length} local`,
  );
  console.log(`\nmodels (${config.settings.workers.modelsFile})\n${models.join('\n')}`);
}

try {
  main();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
