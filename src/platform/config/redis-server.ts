import type { RedisOptions } from 'ioredis';
import type { Settings } from './settings.js';

type RedisSettings = Pick<Settings['redis'], 'url' | 'sentinels' | 'masterName'>;

/** Whether there is a Redis: at an address, or behind Sentinels. */
export const namesRedis = ({ url, sentinels }: RedisSettings): boolean => (url || sentinels) !== '';

/**
 * `redis://user:password@host:port,host:port/database`: the one address of `redis.url`, or
 * those of `redis.sentinels`. `rediss`: TLS.
 */
const ADDRESSES = /^(rediss?:\/\/(?:[^\s/]*@)?)([^\s@/]+)(\/\d*(?:\?\S*)?)?$/;

/** The addresses one by one; undefined: it is no such text, or has a `%` that encodes nothing. */
export function redisAddresses(text: string): readonly URL[] | undefined {
  const [, head = '', hosts = '', path = ''] = ADDRESSES.exec(text) ?? [];
  const urls = hosts.split(',').map(host => head + host + path);
  return isEncoded(head) && urls.every(url => URL.canParse(url))
    ? urls.map(url => new URL(url))
    : undefined;
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * How ioredis connects; plain values, which a thread or a worker can be handed. User and
 * database are those of Redis; Sentinels are given the password alone, and one that wants
 * none takes it.
 */
export function redisServer({ url, sentinels, masterName }: RedisSettings): RedisOptions {
  const [first, ...others] = redisAddresses(url || sentinels) ?? [];
  if (!first) throw new Error('redis.url or redis.sentinels must name a Redis.');
  const own = loginOf(first);
  if (!sentinels) return { ...own, ...placeOf(first, 6379) };
  return {
    ...own,
    name: masterName,
    sentinels: [first, ...others].map(address => placeOf(address, 26_379)),
    ...(own.password !== undefined && { sentinelPassword: own.password }),
    ...(own.tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
  };
}

function loginOf({ username, password, pathname, searchParams, protocol }: URL): RedisOptions {
  const { family, ...more } = Object.fromEntries(searchParams);
  return {
    ...more,
    ...(family !== undefined && { family: Number(family) }),
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    ...(pathname.length > 1 && { db: Number(pathname.slice(1)) }),
    ...(protocol === 'rediss:' && { tls: {} }),
  };
}

const placeOf = ({ hostname, port }: URL, usual: number) => ({
  host: hostname.replaceAll(/[[\]]/g, ''),
  port: port === '' ? usual : Number(port),
});
