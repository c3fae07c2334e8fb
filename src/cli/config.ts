import { Command } from 'commander';
import { configRows, configTable } from '../platform/config/config-rows.js';
import { loadConfig } from '../platform/config/load-config.js';
import { replicaSpecs } from '../platform/config/model-spec.js';
import { print, printJson } from './terminal.js';

const HELP = `
Every setting with its effective value and where it came from: default, file:line:column or environment variable.
A * marks a value that differs from its default.`;

export const configCommand = (): Command =>
  new Command('config').description('the configuration in effect').addCommand(configPrintCommand());

const configPrintCommand = (): Command =>
  new Command('print')
    .description('every setting, its value and its origin')
    .option('--json', 'settings and models as one JSON document')
    .addHelpText('after', HELP)
    .action(({ json }: { json?: boolean }) => {
      const config = loadConfig();
      const settings = configRows(config);
      if (json) return printJson({ settings, models: config.models });
      print(configTable(settings));
      const models = config.models.map(
        model => `  ${model.id}  ${model.kind}, ${model.engine}, ${replicaSpecs(model).length} local`,
      );
      print(`\nmodels (${config.settings.workers.modelsFile})\n${models.join('\n')}`);
    });
