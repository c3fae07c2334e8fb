import { isMap, isScalar, type Pair } from 'yaml';
import { didYouMean } from './nearest-name.js';
import { SettingSource } from './setting-source.js';
import { SETTING_PATHS, type SettingPath } from './settings.js';
import { type YamlFile } from './yaml-file.js';

const SECTIONS = [...new Set(SETTING_PATHS.map(path => path.split('.', 1)[0] ?? path))];

/** Reads `section: { name: value }`; keys that are not settings are problems with a suggestion. */
export function settingsFromFile(file: YamlFile): SettingSource {
  const source = new SettingSource();
  source.problems.push(...file.problems);
  const root = file.document.contents;
  if (file.problems.length > 0 || root === null) return source;
  if (!isMap(root))
    source.problems.push({ origin: file.originOf(root), message: 'must hold sections, such as `queue:`' });
  else for (const section of root.items) readSection(file, section, source);
  return source;
}

function readSection(file: YamlFile, { key, value }: Pair, source: SettingSource): void {
  const origin = file.originOf(key);
  const section = String(key);
  if (!SECTIONS.includes(section)) {
    source.problems.push({ origin, path: section, message: `no such section${didYouMean(section, SECTIONS)}` });
  } else if (isMap(value)) {
    for (const item of value.items) readSetting(file, section, item, source);
  } else if (!(isScalar(value) && value.value === null)) {
    // A section whose every line is commented out reads as null and is fine.
    source.problems.push({ origin, path: section, message: 'must hold settings, one per line' });
  }
}

function readSetting(file: YamlFile, section: string, { key, value }: Pair, source: SettingSource): void {
  const path = `${section}.${String(key)}`;
  const origin = file.originOf(key);
  if (isSettingPath(path)) source.take(path, isScalar(value) ? value.value : String(value), origin);
  else source.problems.push({ origin, path, message: `no such setting${didYouMean(path, SETTING_PATHS)}` });
}

const isSettingPath = (path: string): path is SettingPath => (SETTING_PATHS as readonly string[]).includes(path);
