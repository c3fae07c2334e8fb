import { z } from 'zod';
import { type SettingValue } from './setting-definition.js';
import { SETTING_PATHS, settingDefinition, type SettingPath } from './settings.js';
import { type ConfigProblem } from './yaml-file.js';

const DEFAULT_ORIGIN = 'default';

/**
 * Effective value of each setting and where it was written. A source that is taken later
 * overrides the ones before; what is wrong with any of them is collected beside.
 */
export class SettingSources extends Map<
  SettingPath,
  { readonly value: SettingValue; readonly origin: string }
> {
  readonly problems: ConfigProblem[] = [];
  readonly warnings: ConfigProblem[] = [];

  constructor() {
    super();
    for (const path of SETTING_PATHS)
      this.set(path, { value: settingDefinition(path).default, origin: DEFAULT_ORIGIN });
  }

  /** @param raw of a YAML scalar or an environment variable */
  take(path: SettingPath, raw: unknown, origin: string): void {
    const { rule, allowed, default: fallback } = settingDefinition(path);
    // YAML reads a bare `true` as a boolean although the choice is the word.
    const isWord = rule instanceof z.ZodLiteral && typeof raw === 'boolean';
    const { success, data } = rule.safeParse(
      typeof raw === 'string' || isWord ? fromText(String(raw).trim(), fallback) : raw,
    );
    if (success) this.set(path, { value: data as SettingValue, origin });
    else {
      const message = `must be ${allowed} (default ${fallback})`;
      this.problems.push({ origin, path, value: raw, message });
    }
  }
}

/** Of an environment variable or of YAML, for a setting with such a default. */
function fromText(text: string, fallback: SettingValue): unknown {
  if (typeof fallback === 'number') return text === '' ? NaN : Number(text);
  if (typeof fallback === 'string') return text;
  return text === 'true' || (text === 'false' ? false : undefined);
}

/** A key, and addresses that usually hold a password. */
const SECRETS: readonly SettingPath[] = [
  'auth.key',
  'database.url',
  'redis.url',
  'redis.sentinels',
];

/** Its value is never shown. */
export const isSecretSetting = (path: SettingPath): boolean => SECRETS.includes(path);
