import { DEFAULT_ORIGIN, type SourcedValue } from './setting-source.js';
import {
  SETTING_PATHS,
  settingAt,
  settingDefinition,
  type SettingPath,
  type Settings,
} from './settings.js';

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
export const sourcesOf = (settings: Settings): SettingSources =>
  new Map(
    SETTING_PATHS.map(path => {
      const value = settingAt(settings, path);
      return [
        path,
        {
          value,
          origin:
            value === settingDefinition(path).default ? DEFAULT_ORIGIN : ARGUMENT_ORIGIN,
        },
      ];
    }),
  );

/** A key, and addresses that usually hold a password. */
const SECRETS: readonly SettingPath[] = ['auth.key', 'database.url', 'redis.url'];

/** Its value is never shown. */
export const isSecretSetting = (path: SettingPath): boolean => SECRETS.includes(path);
