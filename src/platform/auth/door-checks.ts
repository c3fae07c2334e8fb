import { isIP } from 'node:net';
import { type ConfigProblem } from '../config/config-problem.js';
import { type SettingPath, type Settings } from '../config/settings.js';
import { corsProblems } from './cross-origin.js';

/** Where the value of a setting came from. */
type OriginOf = (path: SettingPath) => string;

/** What one setting alone cannot tell about the doors of the server: who may reach it, from where, and through what. */
export function doorProblems(settings: Settings, originOf: OriginOf): ConfigProblem[] {
  return [
    ...openDoor(settings, originOf('server.host')),
    ...corsProblems(settings.server.corsOrigins, originOf('server.cors_origins')),
    ...redisProblems(settings.redis.url, originOf('redis.url')),
  ];
}

/** Without keys, everybody who reaches the port may use and stop everything. */
function openDoor({ server, auth }: Settings, origin: string): ConfigProblem[] {
  if (auth.keysFile !== '' || auth.allowAnonymous || isLoopback(server.host)) return [];
  const message =
    'reaches beyond this machine, and no API keys are set. Name a file of keys in auth.keys_file, ' +
    'or say auth.allow_anonymous: true when something in front of the server keeps strangers out';
  return [{ origin, path: 'server.host', value: server.host, message }];
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function redisProblems(url: string, origin: string): ConfigProblem[] {
  if (url === '' || /^rediss?:\/\/[^/\s]/.test(url)) return [];
  // Not quoted: it may hold a password.
  return [
    { origin, path: 'redis.url', message: 'must look like redis://host:6379 or rediss://user:password@host:6380' },
  ];
}
