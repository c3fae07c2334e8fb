import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { jsonIn } from '@switchyard/engine-api/json-in.js';
import { loadConfig } from '../../platform/config/load-config.js';
import { replicaSpecs } from '../../platform/config/model-spec.js';
import { redacted } from '../../platform/config/redaction.js';
import { isSecretSetting } from '../../platform/config/setting-source.js';
import {
  BASIC_SETTINGS,
  environmentName,
  SETTING_PATHS,
  settingDefinition,
} from '../../platform/config/settings.js';
import { problemText } from '../../platform/config/yaml-file.js';
import { command, commandGroup } from '../shared/command.js';
import { table, MARKS, print, printJson } from '../shared/terminal.js';
import { FILE_SCHEMAS } from './file-schemas.js';
import { settingsFile } from './settings-file.js';

/** In place of a key, or of an address that may hold a password. */
const HIDDEN = '(hidden)';

const HELP = `The origin is default, file:line:column or an environment variable. A * marks a value that differs from its default.`;

const CHECK_HELP = `Exit code 2: a gateway would not start; each mistake has file, line and column, or its variable. It starts with
warnings (!). Files of models: switchyard models check. This machine: switchyard doctor.`;

const check = command('check', {
  about:
    'settings file, variables and models.yaml: every mistake, those in the options of engines included',
  examples: ['config check', 'config check --json | jq .warnings'],
  notes: CHECK_HELP,
  json: true,
  async run({ engines, options }) {
    const { objections } = await engines();
    const { settings, models, warnings } = loadConfig({ askEngine: objections });
    const ids = models.map(({ id }) => id);
    if (options.json) return { ok: true, models: ids, warnings };
    for (const warning of warnings) print(`${MARKS.warn} ${problemText(warning)}`);
    const { modelsFile } = settings.workers;
    print(`${MARKS.ok} settings and ${modelsFile} are valid; models: ${ids.join(', ') || 'none'}`);
    return undefined;
  },
});

const show = command('show', {
  about: 'a settings file with defaults and comments: what people need first, or every setting',
  examples: ['config show', 'config show --all > switchyard.yaml'],
  options: { '--all': 'every setting, the advanced ones included' },
  run: ({ options }) => print(settingsFile(options.all ? SETTING_PATHS : BASIC_SETTINGS).trimEnd()),
});

const printed = command('print', {
  about: 'every setting, its value and its origin',
  examples: ['config print', "config print --json | jq -r '.settings[].path'"],
  notes: HELP,
  json: 'settings and models as one JSON document',
  run({ options }) {
    const config = loadConfig();
    const settings = [...config.sources].map(([path, { value, origin }]) => ({
      path,
      value: isSecretSetting(path) && value !== '' ? HIDDEN : value,
      origin,
      default: settingDefinition(path).default,
      allowed: settingDefinition(path).allowed,
      env: environmentName(path),
    }));
    if (options.json) return { settings, models: jsonIn(redacted(writeJson(config.models))) };
    const models = config.models.map(
      model => `  ${model.id}  ${model.kind}, ${model.engine}, ${replicaSpecs(model).length} local`,
    );
    print(
      table(['  setting', 'value', 'origin', 'allowed'], settings, row => [
        `${row.value === row.default ? ' ' : '*'} ${row.path}`,
        row.value,
        row.origin,
        row.allowed,
      ]),
    );
    print(`\nmodels (${config.settings.workers.modelsFile})\n${models.join('\n') || '  none'}`);
    return undefined;
  },
});

const SCHEMA_HELP = `Editors with a YAML language server check and complete a file that begins with
# yaml-language-server: $schema=FILE`;

const schema = command('schema [file]', {
  about: 'JSON Schema of a configuration file, for editors',
  arg: ['which', Object.keys(FILE_SCHEMAS), 'switchyard'],
  examples: ['config schema', 'config schema models > models.schema.json'],
  notes: SCHEMA_HELP,
  run: ({ arg: file }) => printJson(FILE_SCHEMAS[file]?.()),
});

export const configCommand = commandGroup('config', 'the configuration in effect', [
  check,
  printed,
  show,
  schema,
]);
