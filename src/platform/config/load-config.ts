import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { didYouMean } from '@switchyard/engine-api/nearest-name.js';
import { isAlias, isMap, isScalar, type Pair } from 'yaml';
import { crossProblems } from './cross-checks.js';
import { FIRST_KEYS_ORIGIN, firstKeysFile } from './first-keys-file.js';
import { type ModelSpec } from './model-spec.js';
import { type EngineCheck, modelsFromFile, withStarters } from './models-file.js';
import { GATEWAY_VARIABLES } from './process-environment.js';
import { PROCESSOR_LINK_VARIABLE } from './processor-link.js';
import { protectSecrets } from './redaction.js';
import { isSecretSetting, SettingSources } from './setting-source.js';
import {
  environmentName,
  FORMER_SETTINGS,
  SETTING_PATHS,
  type SettingPath,
  type Settings,
  settingsFrom,
} from './settings.js';
import { WORKER_SPEC_VARIABLE } from './worker-spec.js';
import { ConfigError, type ConfigProblem, readYamlFile, type YamlFile } from './yaml-file.js';

export interface LoadedConfig {
  readonly settings: Settings;
  readonly models: readonly ModelSpec[];
  /**
   * Effective value and origin (`default`, `file:line` or the variable) of each setting.
   */
  readonly sources: SettingSources;
  /** Problems that do not stop the start, but are probably mistakes. */
  readonly warnings: readonly ConfigProblem[];
}

interface LoadOptions {
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
  /** Read the settings only: the models file may be absent or wrong. */
  readonly settingsOnly?: boolean;
}

const DEFAULT_CONFIG_FILE = 'config/switchyard.yaml';

/**
 * Defaults, then the settings file, then the environment; then the models file. Called
 * once per process.
 * @throws ConfigError naming every problem of all of them.
 */
export function loadConfig(options: LoadOptions = {}): LoadedConfig {
  const { environment = process.env, directory = process.cwd(), askEngine } = options;
  const sources = new SettingSources();
  readSettings(directory, environment[CONFIG_FILE_VARIABLE], sources);
  takeEnvironment(environment, sources);
  const settings = effective(sources);
  const { modelsFile, settingsOnly } = options;
  const readsConfigured = modelsFile === undefined && !settingsOnly;
  const models = readsConfigured
    ? configuredModels(directory, settings, askEngine)
    : modelsIn(directory, modelsFile, askEngine);
  for (const [path, { value }] of sources)
    if (isSecretSetting(path)) protectSecrets([String(value)]);
  const problems = [
    ...sources.problems,
    ...crossProblems(settings, sources, directory),
    ...models.problems,
    ...sharedQueueProblems(settings, models.models, sources.get('queue.driver')?.origin),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    settings,
    models: models.models,
    sources,
    warnings: [...sources.warnings, ...models.warnings],
  };
}

/**
 * All gateways send text to the workers that one of them has loaded on a device, and know them by
 * what they announce in Redis, which a worker in another language does not.
 */
function sharedQueueProblems(
  { queue, workers }: Settings,
  models: readonly ModelSpec[],
  origin = workers.modelsFile,
): readonly ConfigProblem[] {
  const placed = models.find(
    ({ device, kind, engine }) => device && kind === 'llm' && engine === 'external',
  );
  if (queue.driver !== 'redis' || !placed) return [];
  const message =
    'cannot be combined with text models of engine external that share a device, such as ' +
    placed.id;
  return [{ origin, path: 'queue.driver', value: queue.driver, message }];
}

/**
 * Values of `sources`; one that was not given may follow from others, and
 * is entered there.
 */
function effective(sources: SettingSources): Settings {
  const values = () =>
    settingsFrom(Object.fromEntries([...sources].map(([path, { value }]) => [path, value])));
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

function readSettings(directory: string, named: string | undefined, sources: SettingSources) {
  const name = named ?? DEFAULT_CONFIG_FILE;
  const file = readYamlFile(resolve(directory, name), name);
  if (file) return takeSettingsFile(file, sources);
  // The default file may be absent: all settings have defaults. A named one was meant
  // to be there.
  const message = `there is no file ${name}`;
  if (named) sources.problems.push({ origin: CONFIG_FILE_VARIABLE, message });
}

/** The models as the files are now. @throws ConfigError naming every problem of them */
export function readModels(settings: Settings, askEngine?: EngineCheck): readonly ModelSpec[] {
  const { models, problems } = configuredModels(process.cwd(), settings, askEngine);
  const all = [...problems, ...sharedQueueProblems(settings, models)];
  if (all.length > 0) throw new ConfigError(all);
  return models;
}

/** Of `models starter`: never a file that the user's project tracks. */
export const startersFile = ({ data }: Settings): string => join(data.dir, 'models.yaml');

/** The file of the settings, and the starters of this machine. */
function configuredModels(
  directory: string,
  settings: Settings,
  askEngine: EngineCheck | undefined,
) {
  const configured = modelsIn(directory, settings.workers.modelsFile, askEngine);
  const path = startersFile(settings);
  const starters = readYamlFile(resolve(directory, path), path);
  return starters ? withStarters(configured, modelsFromFile(starters, askEngine)) : configured;
}

function modelsIn(directory: string, name: string | undefined, askEngine: EngineCheck | undefined) {
  if (name === undefined) return { models: [], problems: [], warnings: [] };
  const file = readYamlFile(resolve(directory, name), name);
  if (file) return modelsFromFile(file, askEngine);
  const message = 'no such file; `workers.models_file` names it';
  return { models: [], problems: [{ origin: name, message }], warnings: [] };
}

/** Names the settings file, when it is not `config/switchyard.yaml`. */
const CONFIG_FILE_VARIABLE = 'SWITCHYARD_CONFIG';

const RESERVED: readonly string[] = [
  CONFIG_FILE_VARIABLE,
  WORKER_SPEC_VARIABLE,
  PROCESSOR_LINK_VARIABLE,
  ...Object.values(GATEWAY_VARIABLES),
];

/**
 * Variables of other programs that mean one of our settings; the `SWITCHYARD_…` name
 * of it wins.
 */
const BORROWED: Readonly<Record<string, SettingPath>> = {
  MAX_BATCH_SIZE: 'pull.max_batch_size',
  MAX_CONCURRENCY: 'pull.max_concurrency',
  HF_ENDPOINT: 'hub.endpoint',
  DATABASE_URL: 'database.url',
  REDIS_URL: 'redis.url',
  PORT: 'server.port',
  QUEUE_DRIVER: 'queue.driver',
  BATCH_TIMEOUT: 'pull.batch_timeout_ms',
  QUEUE_BRPOP_TIMEOUT: 'pull.block_ms',
};

const IN_SECONDS = ['BATCH_TIMEOUT', 'QUEUE_BRPOP_TIMEOUT'];

function takeBorrowed(environment: NodeJS.ProcessEnv, sources: SettingSources) {
  for (const [name, path] of Object.entries(BORROWED)) {
    const raw = environment[name];
    if (!raw) continue;
    const own = environment[environmentName(path)];
    const value = IN_SECONDS.includes(name) ? millisecondsOf(raw) : raw;
    if (!own) sources.take(path, value, name);
    else if (own !== String(value)) sources.warnings.push(overruled(name, path));
  }
}

/** Reads `SWITCHYARD_…`; a misspelt variable is a problem, not a silent default. */
function takeEnvironment(environment: NodeJS.ProcessEnv, sources: SettingSources) {
  takeBorrowed(environment, sources);
  const byName = new Map(SETTING_PATHS.map(path => [environmentName(path), path]));
  const former = new Map(Object.keys(FORMER_SETTINGS).map(path => [environmentName(path), path]));
  for (const [name, raw] of Object.entries(environment)) {
    if (!name.startsWith('SWITCHYARD_') || RESERVED.includes(name)) continue;
    const path = byName.get(name);
    if (path) sources.take(path, raw, name);
    else if (former.has(name)) sources.warnings.push(hasNoEffect(former.get(name)!, name));
    else {
      const message = `no such setting${didYouMean(name, [...byName.keys()])}`;
      sources.problems.push({ origin: name, message });
    }
  }
}

/** Two variables of one setting differ. Without their values, which may be secrets. */
const overruled = (name: string, path: SettingPath): ConfigProblem => ({
  origin: name,
  path,
  message: `is ignored: ${environmentName(path)} says something else, and wins`,
});

/** What is no number stays as it is, and is refused with its own words. */
function millisecondsOf(seconds: string) {
  const ms = Math.round(Number(seconds) * 1000);
  return Number.isFinite(ms) ? ms : seconds;
}

const hasNoEffect = (path: string, origin: string): ConfigProblem => ({
  origin,
  path,
  message: `is no setting any more and has no effect: ${FORMER_SETTINGS[path]}`,
});

const sectionsOf = (paths: readonly string[]) => [
  ...new Set(paths.map(path => path.split('.', 1)[0] ?? path)),
];
const SECTIONS = sectionsOf(SETTING_PATHS);
const READ_SECTIONS = sectionsOf([...SETTING_PATHS, ...Object.keys(FORMER_SETTINGS)]);

/**
 * Reads `section: { name: value }`; keys that are not settings are problems
 * with a suggestion.
 */
export function takeSettingsFile(file: YamlFile, sources: SettingSources): void {
  sources.problems.push(...file.problems);
  const root = file.document.contents;
  if (file.problems.length > 0 || root === null) return;
  if (!isMap(root))
    sources.problems.push({
      origin: file.originOf(root),
      message: 'must hold sections, such as `queue:`',
    });
  else for (const section of root.items) readSection(file, section, sources);
}

function readSection(file: YamlFile, { key, value }: Pair, sources: SettingSources) {
  const origin = file.originOf(key);
  const section = String(key);
  if (!READ_SECTIONS.includes(section)) {
    const message = `no such section${didYouMean(section, SECTIONS)}`;
    sources.problems.push({ origin, path: section, message });
  } else if (isMap(value)) {
    for (const item of value.items) readSetting(file, section, item, sources);
  } else if (!(isScalar(value) && value.value === null)) {
    // A section whose every line is commented out reads as null and is fine.
    const message = 'must hold settings, one per line';
    sources.problems.push({ origin, path: section, message });
  }
}

function readSetting(
  file: YamlFile,
  section: string,
  { key, value }: Pair,
  sources: SettingSources,
) {
  const path = `${section}.${String(key)}`;
  const origin = file.originOf(key);
  const node = isAlias(value) ? value.resolve(file.document) : value;
  if (isSettingPath(path) && (isScalar(node) || node === null))
    sources.take(path, node?.value ?? null, origin);
  else if (isSettingPath(path)) {
    const message = 'must be one value; several are one text with commas: `a, b`';
    sources.problems.push({ origin, path, message });
  } else if (Object.hasOwn(FORMER_SETTINGS, path)) sources.warnings.push(hasNoEffect(path, origin));
  else {
    const message = `no such setting${didYouMean(path, SETTING_PATHS)}`;
    sources.problems.push({ origin, path, message });
  }
}

const isSettingPath = (path: string): path is SettingPath =>
  (SETTING_PATHS as readonly string[]).includes(path);
