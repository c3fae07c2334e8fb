import { didYouMean } from '@switchyard/engine-api/nearest-name.js';
import { isMap, isScalar, type Pair } from 'yaml';
import { camelCase } from './model-spec.js';
import { GATEWAY_VARIABLES } from './process-environment.js';
import { PROCESSOR_LINK_VARIABLE } from './processor-link.js';
import { settingValue, type SettingValue } from './setting-definition.js';
import {
  environmentName,
  SETTING_PATHS,
  settingDefinition,
  type SettingPath,
  type Settings,
} from './settings.js';
import { WORKER_SPEC_VARIABLE } from './worker-spec.js';
import { type ConfigProblem, type YamlFile } from './yaml-file.js';

/** Names the settings file, when it is not `config/switchyard.yaml`. */
export const CONFIG_FILE_VARIABLE = 'SWITCHYARD_CONFIG';

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

/** Reads `SWITCHYARD_…`; a misspelt variable is a problem, not a silent default. */
export function settingsFromEnvironment(environment: NodeJS.ProcessEnv): SettingSource {
  const source = new SettingSource();
  for (const [name, path] of Object.entries(BORROWED)) {
    const raw = environment[name];
    if (!raw) continue;
    const own = environment[environmentName(path)];
    const value = IN_SECONDS.includes(name) ? millisecondsOf(raw) : raw;
    if (!own) source.take(path, value, name);
    else if (own !== String(value)) source.warnings.push(overruled(name, path));
  }
  const byName = new Map(SETTING_PATHS.map(path => [environmentName(path), path]));
  for (const [name, raw] of Object.entries(environment)) {
    if (!name.startsWith('SWITCHYARD_') || RESERVED.includes(name)) continue;
    const path = byName.get(name);
    if (path) source.take(path, raw, name);
    else {
      const message = `no such setting${didYouMean(name, [...byName.keys()])}`;
      source.problems.push({ origin: name, message });
    }
  }
  return source;
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

const SECTIONS = [...new Set(SETTING_PATHS.map(path => path.split('.', 1)[0] ?? path))];

/**
 * Reads `section: { name: value }`; keys that are not settings are problems
 * with a suggestion.
 */
export function settingsFromFile(file: YamlFile): SettingSource {
  const source = new SettingSource();
  source.problems.push(...file.problems);
  const root = file.document.contents;
  if (file.problems.length > 0 || root === null) return source;
  if (!isMap(root))
    source.problems.push({
      origin: file.originOf(root),
      message: 'must hold sections, such as `queue:`',
    });
  else for (const section of root.items) readSection(file, section, source);
  return source;
}

function readSection(file: YamlFile, { key, value }: Pair, source: SettingSource) {
  const origin = file.originOf(key);
  const section = String(key);
  if (!SECTIONS.includes(section)) {
    const message = `no such section${didYouMean(section, SECTIONS)}`;
    source.problems.push({ origin, path: section, message });
  } else if (isMap(value)) {
    for (const item of value.items) readSetting(file, section, item, source);
  } else if (!(isScalar(value) && value.value === null)) {
    // A section whose every line is commented out reads as null and is fine.
    const message = 'must hold settings, one per line';
    source.problems.push({ origin, path: section, message });
  }
}

function readSetting(
  file: YamlFile,
  section: string,
  { key, value }: Pair,
  source: SettingSource,
) {
  const path = `${section}.${String(key)}`;
  const origin = file.originOf(key);
  if (isSettingPath(path))
    source.take(path, isScalar(value) ? value.value : String(value), origin);
  else {
    const message = `no such setting${didYouMean(path, SETTING_PATHS)}`;
    source.problems.push({ origin, path, message });
  }
}

const isSettingPath = (path: string): path is SettingPath =>
  (SETTING_PATHS as readonly string[]).includes(path);

/** Origin of a value that nothing sets. */
export const DEFAULT_ORIGIN = 'default';

/** A value and where it was written. */
export interface SourcedValue {
  readonly value: SettingValue;
  readonly origin: string;
}

/**
 * What one source (the file or the environment) says: good values and problems,
 * side by side.
 */
export class SettingSource {
  readonly values = new Map<SettingPath, SourcedValue>();
  readonly problems: ConfigProblem[] = [];
  readonly warnings: ConfigProblem[] = [];

  take(path: SettingPath, raw: unknown, origin: string): void {
    const definition = settingDefinition(path);
    const value = settingValue(definition, raw);
    if (value !== undefined) this.values.set(path, { value, origin });
    else {
      const message = `must be ${definition.allowed} (default ${definition.default})`;
      this.problems.push({ origin, path, value: raw, message });
    }
  }
}

/** Injection token of the `SettingSources`. */
export const SETTING_SOURCES = Symbol('SETTING_SOURCES');

/** Effective value and origin of each setting. */
export type SettingSources = ReadonlyMap<SettingPath, SourcedValue>;

/** `argument`: given by the program that started this one. */
export const SOURCE_KINDS = ['default', 'file', 'environment', 'argument'] as const;

/** What kind of origin `default`, `FILE:LINE:COLUMN` or the name of a variable is. */
export function settingSourceOf(origin: string): (typeof SOURCE_KINDS)[number] {
  if (origin === ARGUMENT_ORIGIN) return 'argument';
  if (/:\d+:\d+$/.test(origin)) return 'file';
  return /^[A-Z][A-Z0-9_]*$/.test(origin) ? 'environment' : 'default';
}

const ARGUMENT_ORIGIN = 'argument';

/** Sources of settings that were not read from file and environment. */
export function sourcesOf(settings: Settings): SettingSources {
  const sections = settings as unknown as Record<string, Record<string, SettingValue>>;
  return new Map(
    SETTING_PATHS.map(path => {
      const [section, name] = path.split('.') as [string, string];
      const { default: fallback } = settingDefinition(path);
      const value = sections[section]?.[camelCase(name)] ?? fallback;
      const origin = value === fallback ? DEFAULT_ORIGIN : ARGUMENT_ORIGIN;
      return [path, { value, origin }];
    }),
  );
}

/** A key, and addresses that usually hold a password. */
const SECRETS: readonly SettingPath[] = ['auth.key', 'database.url', 'redis.url'];

/** Its value is never shown. */
export const isSecretSetting = (path: SettingPath): boolean => SECRETS.includes(path);
