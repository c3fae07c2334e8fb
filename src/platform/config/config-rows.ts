import { type LoadedConfig } from './load-config.js';
import { allowedValues, type SettingValue } from './setting-definition.js';
import { environmentName, settingDefinition, type SettingPath } from './settings.js';

/** One effective setting as `config:print` shows it. */
export interface ConfigRow {
  readonly path: SettingPath;
  readonly value: SettingValue;
  /** `default`, `config/switchyard.yaml:12` or the variable's name. */
  readonly origin: string;
  readonly default: SettingValue;
  readonly allowed: string;
  readonly env: string;
}

/** Every setting in the order of the table, as `config:print` shows it. */
export function configRows({ sources }: LoadedConfig): ConfigRow[] {
  return [...sources].map(([path, { value, origin }]) => ({
    path,
    value,
    origin,
    default: settingDefinition(path).default,
    allowed: allowedValues(settingDefinition(path)),
    env: environmentName(path),
  }));
}

/** Aligned columns; settings that differ from their default are marked with `*`. */
export function configTable(rows: readonly ConfigRow[]): string {
  const cells = rows.map(row => [
    `${row.value === row.default ? ' ' : '*'} ${row.path}`,
    String(row.value),
    row.origin,
    row.allowed,
  ]);
  const table = [['  setting', 'value', 'origin', 'allowed'], ...cells];
  const widths = [0, 1, 2].map(column => Math.max(...table.map(row => row[column]?.length ?? 0)));
  return table
    .map(row =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
