import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isLoopback } from '../http/networks.js';
import { crossProblems } from './cross-checks.js';
import {
  CONFIG_FILE_VARIABLE,
  DEFAULT_ORIGIN,
  settingsFromEnvironment,
  settingsFromFile,
  SettingSource,
  type SettingSources,
  type SourcedValue,
  isSecretSetting,
} from './setting-source.js';
import { type ModelSpec } from './model-spec.js';
import {
  type EngineCheck,
  type ModelsFile,
  modelsFromFile,
  withStarters,
} from './models-file.js';
import { protectSecrets } from './redaction.js';
import {
  SETTING_PATHS,
  settingDefinition,
  type SettingPath,
  type Settings,
  settingsFrom,
} from './settings.js';
import { ConfigError, type ConfigProblem, readYamlFile } from './yaml-file.js';

export interface LoadedConfig {
  readonly settings: Settings;
  readonly models: readonly ModelSpec[];
  /**
   * Effective value and origin (`default`, `file:line` or the variable) of each setting.
   */
  readonly sources: SettingSources;
  /** What starts but probably is not meant. */
  readonly warnings: readonly ConfigProblem[];
}

const DEFAULT_CONFIG_FILE = 'config/switchyard.yaml';

/**
 * Defaults, then the settings file, then the environment; then the models file. Called
 * once per process.
 * @throws ConfigError naming every problem of all of them.
 */
export function loadConfig(
  options: {
    readonly environment?: NodeJS.ProcessEnv;
    /** In place of the models files of the settings; relative to `directory`. */
    readonly modelsFile?: string;
    /** Relative file names are resolved from here. */
    readonly directory?: string;
    /**
     * Lets the engines judge the `options` of their models; without it they do when
     * a worker starts.
     */
    readonly askEngine?: EngineCheck;
  } = {},
): LoadedConfig {
  const { environment = process.env, directory = process.cwd(), askEngine } = options;
  const file = readSettings(directory, environment[CONFIG_FILE_VARIABLE]);
  const overrides = settingsFromEnvironment(environment);
  const sources = merge(file, overrides);
  const settings = effective(sources);
  const models = modelsIn(directory, options.modelsFile ?? settings, askEngine);
  protectSecrets(
    [...sources].flatMap(([path, { value }]) =>
      isSecretSetting(path) ? [String(value)] : [],
    ),
  );
  const problems = [
    ...file.problems,
    ...overrides.problems,
    ...crossProblems(settings, sources, directory),
    ...models.problems,
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    settings,
    models: models.models,
    sources,
    warnings: [...overrides.warnings, ...models.warnings],
  };
}

/**
 * Origin of `auth.keys_file`, or of `auth.required`, where no keys are set and others can
 * reach the server.
 */
export const FIRST_KEYS_ORIGIN = 'server.host, which is not loopback';

/**
 * The keys file of a server that listens beyond loopback without one (D-32). Undefined:
 * another is named, or none is needed.
 */
export function firstKeysFile({ server, auth, data }: Settings): string | undefined {
  const named = auth.keysFile !== '' || auth.key !== '' || auth.oidcIssuer !== '';
  const needed = !named && !auth.allowAnonymous && !isLoopback(server.host);
  return needed ? join(data.dir, 'keys.yaml') : undefined;
}

/**
 * Values of `sources`; one that was not given may follow from others, and
 * is entered there.
 */
function effective(sources: Map<SettingPath, SourcedValue>): Settings {
  const values = () =>
    settingsFrom(
      Object.fromEntries([...sources].map(([path, { value }]) => [path, value])),
    );
  const settings = values();
  const keysFile = firstKeysFile(settings);
  if (keysFile === undefined) return settings;
  // Gateways share a database, and no file. A file that an earlier start made
  // stays in use.
  const isShared = settings.database.url !== '' && !existsSync(keysFile);
  if (isShared) sources.set('auth.required', { value: true, origin: FIRST_KEYS_ORIGIN });
  else sources.set('auth.keys_file', { value: keysFile, origin: FIRST_KEYS_ORIGIN });
  return values();
}

function readSettings(directory: string, named: string | undefined): SettingSource {
  const name = named ?? DEFAULT_CONFIG_FILE;
  const file = readYamlFile(resolve(directory, name), name);
  if (file) return settingsFromFile(file);
  const source = new SettingSource();
  // The default file may be absent: all settings have defaults. A named one was meant
  // to be there.
  if (named)
    source.problems.push({
      origin: CONFIG_FILE_VARIABLE,
      message: `there is no file ${name}`,
    });
  return source;
}

/** The models as the files are now. @throws ConfigError naming every problem of them */
export function readModels(
  settings: Settings,
  askEngine?: EngineCheck,
): readonly ModelSpec[] {
  const { models, problems } = modelsIn(process.cwd(), settings, askEngine);
  if (problems.length > 0) throw new ConfigError(problems);
  return models;
}

/** Of `models starter`: never a file that the user's project tracks. */
export const startersFile = ({ data }: Settings): string => join(data.dir, 'models.yaml');

function modelsIn(
  directory: string,
  from: Settings | string,
  askEngine: EngineCheck | undefined,
): ModelsFile {
  if (typeof from !== 'string') {
    const configured = modelsIn(directory, from.workers.modelsFile, askEngine);
    const path = startersFile(from);
    const starters = readYamlFile(resolve(directory, path), path);
    return starters
      ? withStarters(configured, modelsFromFile(starters, askEngine))
      : configured;
  }
  const name = from;
  const file = readYamlFile(resolve(directory, name), name);
  if (file) return modelsFromFile(file, askEngine);
  const problem = {
    origin: name,
    message: 'no such file; `workers.models_file` names it',
  };
  return { models: [], problems: [problem], warnings: [] };
}

function merge(
  file: SettingSource,
  overrides: SettingSource,
): Map<SettingPath, SourcedValue> {
  const merged = new Map<SettingPath, SourcedValue>();
  for (const path of SETTING_PATHS) {
    const fallback = { value: settingDefinition(path).default, origin: DEFAULT_ORIGIN };
    merged.set(path, overrides.values.get(path) ?? file.values.get(path) ?? fallback);
  }
  return merged;
}
