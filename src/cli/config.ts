import { Argument, Command } from 'commander';
import { type JsonSchema, jsonSchema } from '../contracts/schema/rules.js';
import { isSecretSetting } from '../platform/config/effective-settings.js';
import {
  listSchema,
  modelsSchema,
  settingsSchema,
} from '../platform/config/file-schemas.js';
import { loadConfig, type LoadedConfig } from '../platform/config/load-config.js';
import { CATALOGUE_ENTRY } from './catalogue/catalogue-entry.js';
import { examples } from './shared/examples.js';
import { replicaSpecs } from '../platform/config/model-spec.js';
import { type SettingValue } from '../platform/config/setting-definition.js';
import {
  environmentName,
  settingDefinition,
  type SettingPath,
} from '../platform/config/settings.js';
import { problemText } from '../platform/config/yaml-file.js';
import { type EngineChecks } from './shared/engine-checks.js';
import { MARKS, print, printJson } from './shared/terminal.js';

/** In place of a key, or of an address that may hold a password. */
const HIDDEN = '(hidden)';

/** One effective setting as `config:print` shows it. */
export interface ConfigRow {
  readonly path: SettingPath;
  readonly value: SettingValue;
  /** `default`, `config/switchyard.yaml:12` or the variable's name. */
  readonly origin: string;
  readonly default: SettingValue;
  readonly allowed: string;
  readonly env: string;
}

/** Every setting in the order of the table, as `config:print` shows it. */
export function configRows({ sources }: LoadedConfig): ConfigRow[] {
  return [...sources].map(([path, { value, origin }]) => ({
    path,
    value: isSecretSetting(path) && value !== '' ? HIDDEN : value,
    origin,
    default: settingDefinition(path).default,
    allowed: settingDefinition(path).allowed,
    env: environmentName(path),
  }));
}

/** Aligned columns; settings that differ from their default are marked with `*`. */
export function configTable(rows: readonly ConfigRow[]): string {
  const cells = rows.map(row => [
    `${row.value === row.default ? ' ' : '*'} ${row.path}`,
    String(row.value),
    row.origin,
    row.allowed,
  ]);
  const table = [['  setting', 'value', 'origin', 'allowed'], ...cells];
  const widths = [0, 1, 2].map(column =>
    Math.max(...table.map(row => row[column]?.length ?? 0)),
  );
  return table
    .map(row =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const HELP = `
Every setting with its effective value and where it came from: default, file:line:column or environment variable.
A * marks a value that differs from its default.`;

export const configCommand = (engines: EngineChecks): Command =>
  new Command('config')
    .description('the configuration in effect')
    .addCommand(configCheckCommand(engines))
    .addCommand(configPrintCommand())
    .addCommand(configSchemaCommand());

const CHECK_HELP = `
Exit code 2: there are mistakes, and a gateway would not start; each with file, line and column, or its variable.
Warnings (!) start. Files of models: switchyard models check. This machine: switchyard doctor.`;

const configCheckCommand = ({ objections }: EngineChecks): Command =>
  new Command('check')
    .description(
      'settings file, variables and models.yaml: every mistake, those in the options of engines included',
    )
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      examples(['config check', 'config check --json | jq .warnings'], CHECK_HELP.trim()),
    )
    .action(({ json }: { json?: boolean }) => {
      const { settings, models, warnings } = loadConfig({ askEngine: objections });
      if (json)
        return printJson({ ok: true, models: models.map(({ id }) => id), warnings });
      const lines = warnings.map(warning => `${MARKS.warn} ${problemText(warning)}`);
      const ids = models.map(({ id }) => id).join(', ') || 'none';
      print(
        [
          ...lines,
          `${MARKS.ok} settings and ${settings.workers.modelsFile} are valid; models: ${ids}`,
        ].join('\n'),
      );
    });

const configPrintCommand = (): Command =>
  new Command('print')
    .description('every setting, its value and its origin')
    .option('--json', 'settings and models as one JSON document')
    .addHelpText(
      'after',
      examples(
        ['config print', "config print --json | jq -r '.settings[].path'"],
        HELP.trim(),
      ),
    )
    .action(({ json }: { json?: boolean }) => {
      const config = loadConfig();
      const settings = configRows(config);
      if (json) return printJson({ settings, models: config.models });
      print(configTable(settings));
      const models = config.models.map(
        model =>
          `  ${model.id}  ${model.kind}, ${model.engine}, ${replicaSpecs(model).length} local`,
      );
      print(
        `\nmodels (${config.settings.workers.modelsFile})\n${models.join('\n') || '  none'}`,
      );
    });

/**
 * Of the files below `config/`, by name. The committed ones in `config/schema` are
 * made of these.
 */
export const FILE_SCHEMAS: Readonly<Record<string, () => JsonSchema>> = {
  switchyard: settingsSchema,
  models: modelsSchema,
  catalogue: () =>
    listSchema('Catalogue of models', 'catalogue', jsonSchema(CATALOGUE_ENTRY)),
};

const SCHEMA_HELP = `
Editors with a YAML language server check and complete a file that begins with
# yaml-language-server: $schema=FILE`;

const configSchemaCommand = (): Command =>
  new Command('schema')
    .description('JSON Schema of a configuration file, for editors')
    .addArgument(
      new Argument('[file]', 'which')
        .choices(Object.keys(FILE_SCHEMAS))
        .default('switchyard'),
    )
    .addHelpText(
      'after',
      examples(
        ['config schema', 'config schema models > models.schema.json'],
        SCHEMA_HELP.trim(),
      ),
    )
    .action((file: string) => printJson(FILE_SCHEMAS[file]?.()));
