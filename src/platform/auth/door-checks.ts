import { type ConfigProblem } from '../config/config-problem.js';
import { type SettingPath, type Settings } from '../config/settings.js';
import { allowedHostsProblems } from './allowed-hosts.js';
import { corsProblems } from './cross-origin.js';

/** Where the value of a setting came from. */
type OriginOf = (path: SettingPath) => string;

/** What one setting alone cannot tell about the doors of the server: who may reach it, from where, and through what. */
export function doorProblems(settings: Settings, originOf: OriginOf): ConfigProblem[] {
  return [
    ...allowedHostsProblems(settings.server.allowedHosts, originOf('server.allowed_hosts')),
    ...corsProblems(settings.server.corsOrigins, originOf('server.cors_origins')),
    ...redisProblems(settings.redis.url, originOf('redis.url')),
  ];
}

function redisProblems(url: string, origin: string): ConfigProblem[] {
  if (url === '' || /^rediss?:\/\/[^/\s]/.test(url)) return [];
  // Not quoted: it may hold a password.
  return [
    { origin, path: 'redis.url', message: 'must look like redis://host:6379 or rediss://user:password@host:6380' },
  ];
}
