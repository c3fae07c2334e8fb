import { mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { wrongHosts } from '../http/allowed-hosts.js';
import { CrossOrigins } from '../http/cross-origin.js';
import { isLoopback } from '../http/loopback.js';
import { HostExceptions } from '../http/host-exceptions.js';
import { networksAndNames } from '../http/networks.js';
import { isTenantSetting } from '../metrics/tenant-labels.js';
import { type SourcedValue } from './setting-source.js';
import { type SettingPath, type Settings } from './settings.js';
import { ConfigError, type ConfigProblem } from './yaml-file.js';

type Sources = ReadonlyMap<SettingPath, SourcedValue>;

/** Problems that one setting alone does not show: contradictions, malformed lists, and paths that cannot be used. */
export const crossProblems = (settings: Settings, sources: Sources, directory: string): readonly ConfigProblem[] => [
  ...contradictions(sources),
  ...badKey(settings, sources),
  ...badOidc(settings, sources),
  ...badLists(sources),
  ...badAllowedHosts(sources),
  ...badRedis(sources),
  ...missingRedis(settings, sources),
  ...slowLocks(settings, sources),
  ...badDatabase(sources),
  ...badDataFolder(sources, directory),
  ...badTenants(sources),
  ...badLinks(sources),
];

const LINKS: readonly SettingPath[] = ['console.prometheus_url', 'console.trace_url', 'console.manual_url'];

const badLinks = (sources: Sources): ConfigProblem[] =>
  LINKS.flatMap(path => {
    const { value, origin } = sources.get(path)!;
    if (value === '' || /^https?:$/.test(URL.parse(String(value))?.protocol ?? '')) return [];
    return [{ origin, path, value, message: 'must be a URL with http or https' }];
  });

const NOT_ABOVE: readonly (readonly [lower: SettingPath, upper: SettingPath, why: string])[] = [
  ['workers.restart_min_ms', 'workers.restart_max_ms', 'the first pause cannot be longer than the longest'],
  ['server.upload_limit_bytes', 'queue.max_bytes', 'else an allowed upload could never be queued'],
  ['server.upload_limit_bytes', 'queue.max_bytes_per_model', 'else an allowed upload could never be queued'],
];

function contradictions(sources: Sources): ConfigProblem[] {
  return NOT_ABOVE.flatMap(([lower, upper, why]) => {
    const low = sources.get(lower);
    const high = sources.get(upper);
    if (!low || !high || low.value <= high.value) return [];
    const origin = low.origin === 'default' ? high.origin : low.origin;
    return [{ origin, path: lower, value: low.value, message: `must not exceed ${upper} (${high.value}): ${why}` }];
  });
}

function badTenants(sources: Sources): ConfigProblem[] {
  const path = 'metrics.tenants';
  const { value, origin } = sources.get(path) ?? {};
  if (value === undefined || origin === undefined || isTenantSetting(String(value))) return [];
  return [{ origin, path, value, message: 'must be off, top-1 to top-100, or names of tenants with commas' }];
}

const hosts = (text: string): unknown => new HostExceptions(text);

/** Lists in one text; parsing throws an Error that names the wrong entry. */
const LISTS: readonly (readonly [path: SettingPath, parse: (text: string) => unknown])[] = [
  ['fetch.allow_hosts', hosts],
  ['batch.webhook_allow_hosts', hosts],
  ['pull.callback_allow_hosts', hosts],
  ['server.cors_origins', text => new CrossOrigins(text)],
  ['auth.forwarded_users_from', networksAndNames],
];

const badLists = (sources: Sources): ConfigProblem[] =>
  LISTS.flatMap(([path, parse]) => {
    const { value, origin } = sources.get(path)!;
    try {
      parse(String(value));
      return [];
    } catch (error) {
      return [{ origin, path, value, message: (error as Error).message }];
    }
  });

function badAllowedHosts(sources: Sources): ConfigProblem[] {
  const path = 'server.allowed_hosts';
  const { value, origin } = sources.get(path)!;
  const message = (host: string): string => `\`${host}\` is no host name or IP address; leave out the port`;
  return wrongHosts(String(value)).map(host => ({ origin, path, value, message: message(host) }));
}

/** At least as hard to guess as 64 random bits, and fit for a header. The value is not quoted. */
const KEY = /^[\x21-\x7e]{16,512}$/;

function badKey({ auth }: Settings, sources: Sources): ConfigProblem[] {
  if (auth.key === '') return [];
  const { origin } = sources.get('auth.key')!;
  const wrong = (message: string): ConfigProblem => ({ origin, path: 'auth.key', message });
  const from = (path: SettingPath): string => `${path} (${sources.get(path)!.origin})`;
  return [
    ...(KEY.test(auth.key) ? [] : [wrong('must be 16 to 512 ASCII characters without spaces: openssl rand -hex 32')]),
    ...(auth.keysFile === ''
      ? []
      : [wrong(`cannot be combined with ${from('auth.keys_file')}: use one of them; a file holds many keys`)]),
    ...(auth.allowAnonymous
      ? [wrong(`contradicts ${from('auth.allow_anonymous')}, which listens beyond loopback without keys`)]
      : []),
  ];
}

const ASYMMETRIC = /^(RS|PS|ES)(256|384|512)$|^EdDSA$|^Ed25519$/;

function badOidc({ auth }: Settings, sources: Sources): ConfigProblem[] {
  if (auth.oidcIssuer === '') return [];
  const wrong = (path: SettingPath, message: string): ConfigProblem => {
    const { origin, value } = sources.get(path)!;
    return { origin, path, value, message };
  };
  const urls = (['auth.oidc_issuer', 'auth.oidc_jwks_url'] as const).filter(path => sources.get(path)!.value !== '');
  const algorithms = auth.oidcAlgorithms.split(',').map(name => name.trim());
  return [
    ...urls
      .filter(path => !isSecureUrl(String(sources.get(path)!.value)))
      .map(path => wrong(path, 'must be an https URL without credentials; http is for loopback only')),
    ...(auth.oidcAudience.trim() === ''
      ? [wrong('auth.oidc_audience', 'is required with auth.oidc_issuer: else tokens for other services were accepted')]
      : []),
    ...algorithms
      .filter(name => !ASYMMETRIC.test(name))
      .map(name => wrong('auth.oidc_algorithms', `\`${name}\` must be RS, PS or ES with 256, 384 or 512, or EdDSA`)),
    ...(auth.allowAnonymous
      ? [wrong('auth.oidc_issuer', 'contradicts auth.allow_anonymous, which asks for no keys')]
      : []),
  ];
}

function isSecureUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** The value is not quoted: it may hold a password. */
function badRedis(sources: Sources): ConfigProblem[] {
  const { value, origin } = sources.get('redis.url')!;
  if (value === '' || /^rediss?:\/\/[^/\s]/.test(String(value))) return [];
  const message = 'must look like redis://host:6379 or rediss://user:password@host:6380';
  return [{ origin, path: 'redis.url', message }];
}

function missingRedis({ queue, redis }: Settings, sources: Sources): ConfigProblem[] {
  if (queue.driver !== 'redis' || redis.url !== '') return [];
  const message = 'needs redis.url, such as redis://127.0.0.1:6379 (variable SWITCHYARD_REDIS_URL)';
  return [{ origin: sources.get('queue.driver')!.origin, path: 'queue.driver', value: queue.driver, message }];
}

/** The death of a worker is noticed by its locks at the latest: before the time limit of what it had ends. */
function slowLocks({ queue, redis, inference }: Settings, sources: Sources): ConfigProblem[] {
  if (queue.driver !== 'redis' || redis.lockMs < inference.timeoutMinMs) return [];
  const [lock, limit] = [sources.get('redis.lock_ms')!, sources.get('inference.timeout_min_ms')!];
  const message =
    `must be below inference.timeout_min_ms (${limit.value}): else the time limit of a request ends before ` +
    'another worker gets what a dead one had';
  const { origin } = lock.origin === 'default' ? limit : lock;
  return [{ origin, path: 'redis.lock_ms', value: redis.lockMs, message }];
}

/** The value is not quoted: it may hold a password. */
function badDatabase(sources: Sources): ConfigProblem[] {
  const { value, origin } = sources.get('database.url')!;
  if (value === '' || /^postgres(ql)?:\/\/[^/\s]/.test(String(value))) return [];
  const message = 'must look like postgres://user:password@host:5432/name, or be empty for SQLite in data.dir';
  return [{ origin, path: 'database.url', message }];
}

function badDataFolder(sources: Sources, directory: string): ConfigProblem[] {
  const { value, origin } = sources.get('data.dir')!;
  const found = nearestExisting(resolve(directory, String(value)));
  if (statSync(found).isDirectory()) return [];
  return [{ origin, path: 'data.dir', value, message: `must be a folder, or not exist yet; ${found} is a file` }];
}

/** `path`, or the nearest of its ancestors that exists. */
function nearestExisting(path: string): string {
  return statSync(path, { throwIfNoEntry: false }) ? path : nearestExisting(dirname(path));
}

/**
 * Tries to write where the data folder is or is to be made: only a gateway or a processor that starts does so.
 * @throws ConfigError
 */
export function assertDataWritable(sources: Sources): void {
  const { value, origin } = sources.get('data.dir')!;
  const folder = resolve(String(value));
  try {
    rmdirSync(mkdtempSync(join(nearestExisting(folder), '.switchyard-')));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const message = `may not be written (${code}). Run: sudo install -d -o "$(id -un)" ${folder}, or name another folder`;
    throw new ConfigError([{ origin, path: 'data.dir', value, message }]);
  }
}
