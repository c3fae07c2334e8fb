import { type ConfigProblem } from './config-problem.js';
import { parseSetting } from './setting-parser.js';
import { type SettingValue } from './setting-definition.js';
import { settingDefinition, type SettingPath } from './settings.js';

/** A value and where it was written. */
export interface SourcedValue {
  readonly value: SettingValue;
  readonly origin: string;
}

/** What one source (the file or the environment) says: good values and problems, side by side. */
export class SettingSource {
  readonly values = new Map<SettingPath, SourcedValue>();
  readonly problems: ConfigProblem[] = [];

  take(path: SettingPath, raw: unknown, origin: string): void {
    const parsed = parseSetting(settingDefinition(path), raw);
    if (parsed.ok) this.values.set(path, { value: parsed.value, origin });
    else this.problems.push({ origin, path, value: raw, message: parsed.message });
  }
}
