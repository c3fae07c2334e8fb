import { mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CrossOrigins } from '../http/cross-origins.js';
import { networksAndNames, isLoopback, listed, HostExceptions } from '../http/networks.js';
import { isTenantSetting } from '../metrics/tenant-labels.js';
import { namesRedis, redisAddresses } from './redis-server.js';
import { type SettingSources, isSecretSetting } from './setting-source.js';
import type { SettingPath, Settings } from './settings.js';
import { ConfigError, type ConfigProblem } from './yaml-file.js';

/** @param from the setting that it was caused by; default: the one that is wrong */
type Finding = readonly [path: SettingPath, message: string, from?: SettingPath];

/**
 * Problems that one setting alone does not show: contradictions, malformed lists, and
 * paths that cannot be used.
 */
export const crossProblems = (
  settings: Settings,
  sources: SettingSources,
  directory: string,
): readonly ConfigProblem[] =>
  [...findings(settings, sources, directory)].map(([path, message, from = path]) => ({
    origin: sources.get(from)!.origin,
    path,
    value: isSecretSetting(path) ? undefined : sources.get(path)!.value,
    message,
  }));

const HOST = /^(\*|[A-Za-z0-9_.-]+|\[?[0-9A-Fa-f:.]+\]?)$/;

function* findings(
  settings: Settings,
  sources: SettingSources,
  directory: string,
): Generator<Finding> {
  yield* contradictions(sources);
  yield* badKey(settings, sources);
  yield* badOidc(settings);
  yield* badLists(sources);
  for (const host of listed(settings.server.allowedHosts)) {
    if (HOST.test(host)) continue;
    yield ['server.allowed_hosts', `\`${host}\` is no host name or IP address; leave out the port`];
  }
  yield* badRedis(settings);
  yield* badDatabase(settings, directory);
  if (!isTenantSetting(settings.metrics.tenants)) {
    yield ['metrics.tenants', 'must be off, top-1 to top-100, or names of tenants with commas'];
  }
  for (const path of [
    'console.prometheus_url',
    'console.trace_url',
    'console.manual_url',
  ] as const) {
    const value = sources.get(path)!.value;
    const isLink = value === '' || /^https?:$/.test(URL.parse(String(value))?.protocol ?? '');
    if (!isLink) yield [path, 'must be a URL with http or https'];
  }
}

const NOT_ABOVE: readonly (readonly [lower: SettingPath, upper: SettingPath, why: string])[] = [
  [
    'workers.restart_min_ms',
    'workers.restart_max_ms',
    'the first pause cannot be longer than the longest',
  ],
  ['server.upload_limit_bytes', 'queue.max_bytes', 'else an allowed upload could never be queued'],
  [
    'server.upload_limit_bytes',
    'queue.max_bytes_per_model',
    'else an allowed upload could never be queued',
  ],
];

function* contradictions(sources: SettingSources): Generator<Finding> {
  for (const [lower, upper, why] of NOT_ABOVE) {
    const low = sources.get(lower)!;
    const { value: most } = sources.get(upper)!;
    if (low.value <= most) continue;
    yield [
      lower,
      `must not exceed ${upper} (${most}): ${why}`,
      low.origin === 'default' ? upper : lower,
    ];
  }
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

function* badLists(sources: SettingSources): Generator<Finding> {
  for (const [path, parse] of LISTS) {
    try {
      parse(String(sources.get(path)!.value));
    } catch (error) {
      yield [path, (error as Error).message];
    }
  }
}

/** At least as hard to guess as 64 random bits, and fit for a header. */
const KEY = /^[\x21-\x7e]{16,512}$/;

function* badKey({ auth }: Settings, sources: SettingSources): Generator<Finding> {
  if (auth.key === '') return;
  const from = (path: SettingPath) => `${path} (${sources.get(path)!.origin})`;
  if (!KEY.test(auth.key)) {
    yield ['auth.key', 'must be 16 to 512 ASCII characters without spaces: openssl rand -hex 32'];
  }
  if (auth.keysFile !== '') {
    yield [
      'auth.key',
      `cannot be combined with ${from('auth.keys_file')}: use one of them; a file holds many keys`,
    ];
  }
  if (auth.allowAnonymous) {
    yield [
      'auth.key',
      `contradicts ${from('auth.allow_anonymous')}, which listens beyond loopback without keys`,
    ];
  }
}

const ASYMMETRIC = /^(RS|PS|ES)(256|384|512)$|^EdDSA$|^Ed25519$/;
const NO_SECURE_URL = 'must be an https URL without credentials; http is for loopback only';

function* badOidc({ auth }: Settings): Generator<Finding> {
  if (auth.oidcIssuer === '') return;
  if (!isSecureUrl(auth.oidcIssuer)) yield ['auth.oidc_issuer', NO_SECURE_URL];
  if (auth.oidcJwksUrl !== '' && !isSecureUrl(auth.oidcJwksUrl))
    yield ['auth.oidc_jwks_url', NO_SECURE_URL];
  if (auth.oidcAudience.trim() === '') {
    yield [
      'auth.oidc_audience',
      'is required with auth.oidc_issuer: else tokens for other services were accepted',
    ];
  }
  for (const name of auth.oidcAlgorithms.split(',').map(algorithm => algorithm.trim())) {
    if (ASYMMETRIC.test(name)) continue;
    yield [
      'auth.oidc_algorithms',
      `\`${name}\` must be RS, PS or ES with 256, 384 or 512, or EdDSA`,
    ];
  }
  if (auth.allowAnonymous) {
    yield ['auth.oidc_issuer', 'contradicts auth.allow_anonymous, which asks for no keys'];
  }
}

function isSecureUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

function* badRedis({ queue, redis }: Settings): Generator<Finding> {
  const { url, sentinels, masterName } = redis;
  if (url !== '' && redisAddresses(url)?.length !== 1)
    yield ['redis.url', 'must look like redis://host:6379 or rediss://user:password@host:6380'];
  if (sentinels !== '' && !redisAddresses(sentinels))
    yield ['redis.sentinels', 'must look like redis://s1:26379,s2:26379,s3:26379'];
  if (url !== '' && sentinels !== '')
    yield ['redis.sentinels', 'must be empty, or else redis.url, which would not be used'];
  if ((sentinels === '') !== (masterName === ''))
    yield ['redis.master_name', 'goes with redis.sentinels: both are set, or none'];
  if (queue.driver === 'redis' && !namesRedis(redis)) {
    yield [
      'queue.driver',
      'needs redis.url, such as redis://127.0.0.1:6379 (variable SWITCHYARD_REDIS_URL), or redis.sentinels',
    ];
  }
}

function* badDatabase({ database, data }: Settings, directory: string): Generator<Finding> {
  if (database.url !== '' && !/^postgres(ql)?:\/\/[^/\s]/.test(database.url)) {
    yield [
      'database.url',
      'must look like postgres://user:password@host:5432/name, or be empty for SQLite in data.dir',
    ];
  }
  const found = nearestExisting(resolve(directory, data.dir));
  if (!statSync(found).isDirectory()) {
    yield ['data.dir', `must be a folder, or not exist yet; ${found} is a file`];
  }
}

/** `path`, or the nearest of its ancestors that exists. */
function nearestExisting(path: string): string {
  return statSync(path, { throwIfNoEntry: false }) ? path : nearestExisting(dirname(path));
}

/**
 * Tries to write where the data folder is or is to be made: only a gateway or a processor
 * that starts does so.
 * @throws ConfigError
 */
export function assertDataWritable(sources: SettingSources): void {
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
