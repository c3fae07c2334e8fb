import { didYouMean } from './nearest-name.js';
import { SettingSource } from './setting-source.js';
import { environmentName, SETTING_PATHS, type SettingPath } from './settings.js';
import { PROCESSOR_LINK_VARIABLE } from './processor-link.js';
import { WORKER_SPEC_VARIABLE } from './worker-spec.js';

/** Names the settings file, when it is not `config/switchyard.yaml`. */
export const CONFIG_FILE_VARIABLE = 'SWITCHYARD_CONFIG';

const RESERVED: readonly string[] = [CONFIG_FILE_VARIABLE, WORKER_SPEC_VARIABLE, PROCESSOR_LINK_VARIABLE];

/** Variables of other programs that mean one of our settings; the `SWITCHYARD_…` name of it wins. */
const BORROWED: Readonly<Record<string, SettingPath>> = {
  MAX_BATCH_SIZE: 'pull.max_batch_size',
  MAX_CONCURRENCY: 'pull.max_concurrency',
  HF_ENDPOINT: 'hub.endpoint',
  DATABASE_URL: 'database.url',
  QUEUE_DRIVER: 'queue.driver',
};

/** As above, in seconds (seeds/micro-batching "Configuration"). */
const BORROWED_SECONDS: Readonly<Record<string, SettingPath>> = {
  BATCH_TIMEOUT: 'pull.batch_timeout_ms',
  QUEUE_BRPOP_TIMEOUT: 'pull.block_ms',
};

/** Reads `SWITCHYARD_…`; a misspelt variable is a problem, not a silent default. */
export function settingsFromEnvironment(environment: NodeJS.ProcessEnv): SettingSource {
  const source = new SettingSource();
  for (const [name, path] of Object.entries(BORROWED)) {
    if (environment[name] && !environment[environmentName(path)]) source.take(path, environment[name], name);
  }
  for (const [name, path] of Object.entries(BORROWED_SECONDS)) {
    const raw = environment[name];
    if (raw && !environment[environmentName(path)]) source.take(path, millisecondsOf(raw), name);
  }
  const byName = new Map(SETTING_PATHS.map(path => [environmentName(path), path]));
  for (const [name, raw] of Object.entries(environment)) {
    if (!name.startsWith('SWITCHYARD_') || RESERVED.includes(name)) continue;
    const path = byName.get(name);
    if (path) source.take(path, raw, name);
    else source.problems.push({ origin: name, message: `no such setting${didYouMean(name, [...byName.keys()])}` });
  }
  return source;
}

/** What is no number stays as it is, and is refused with its own words. */
function millisecondsOf(seconds: string): number | string {
  const ms = Math.round(Number(seconds) * 1000);
  return Number.isFinite(ms) ? ms : seconds;
}
