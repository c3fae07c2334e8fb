import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { takeSettingsFile } from '../../platform/config/load-config.js';
import { SettingSources } from '../../platform/config/setting-source.js';
import {
  BASIC_SETTINGS,
  SETTING_PATHS,
  settingDefinition,
  type SettingPath,
} from '../../platform/config/settings.js';
import { parseYaml } from '../../platform/config/yaml-file.js';
import { settingsFile } from './settings-file.js';

const readBack = (text: string) => {
  const sources = new SettingSources();
  takeSettingsFile(parseYaml(text, 'file'), sources);
  expect(sources.problems).toEqual([]);
  return [...sources].filter(([, { origin }]) => origin !== 'default');
};
const defaults = (paths: readonly SettingPath[]) =>
  paths.map(path => [path, settingDefinition(path).default]);

describe('the settings file', () => {
  it('with all settings is read as every default', () => {
    const read = readBack(settingsFile(SETTING_PATHS));
    expect(read.map(([path, { value }]) => [path, value])).toEqual(defaults(SETTING_PATHS));
  });

  it('that is shipped holds the settings that people need first, each with its default', () => {
    const shipped = readFileSync('config/switchyard.yaml', 'utf8');
    expect(shipped).toBe(settingsFile(BASIC_SETTINGS));
    const read = new Map(readBack(shipped).map(([path, { value }]) => [path, value]));
    expect([...read].sort()).toEqual(defaults(BASIC_SETTINGS).sort());
    expect(BASIC_SETTINGS).toHaveLength(25);
  });
});
