import { stringify } from 'yaml';
import {
  environmentName,
  SETTING_PATHS,
  type SettingPath,
  settingDefinition,
} from '../../platform/config/settings.js';

const WIDTH = 118;

const head = (about: string) => `# yaml-language-server: $schema=schema/switchyard.schema.json
${comment(
  `${about} Change a value here, or override it by the environment variable SWITCHYARD_ + the path in capitals, ` +
    `dots as underscores: queue.max_requests is ${environmentName('queue.max_requests')}. ` +
    '`switchyard config print` shows what is in effect and where it came from. Relative paths start at the working ' +
    'directory. Another file: SWITCHYARD_CONFIG=path. Unknown keys stop the start; a line left out has its default.',
)}
`;

const SHORT =
  'The settings of Switchyard that people need first, with their defaults; all: `switchyard config show --all`.';
const WHOLE = 'Every setting of Switchyard with its default.';

/** A settings file with these settings, their defaults and what they do. */
export function settingsFile(paths: readonly SettingPath[]): string {
  const sections = Map.groupBy(paths, path => path.slice(0, path.indexOf('.')));
  const parts = [...sections].map(
    ([section, own]) => `${section}:\n${own.map(path => setting(path, section)).join('')}`,
  );
  return [head(paths.length === SETTING_PATHS.length ? WHOLE : SHORT), ...parts].join('\n');
}

function setting(path: SettingPath, section: string): string {
  const { help, allowed, default: value } = settingDefinition(path);
  const name = path.slice(section.length + 1);
  return `${comment(`${help} (${allowed})`, '  ')}\n  ${name}: ${stringify(value, { singleQuote: true })}`;
}

/** Lines of at most 118 characters. */
function comment(words: string, indent = ''): string {
  const lines = [`${indent}#`];
  for (const word of words.split(' ')) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length <= WIDTH) lines[lines.length - 1] = line;
    else lines.push(`${indent}# ${word}`);
  }
  return lines.join('\n');
}
