import { type Endpoint, ENDPOINTS } from '../../src/contracts/endpoints.js';
import { ERROR_REGISTRY, type ErrorDefinition } from '../../src/core/shared/domain-error.js';
import { allowedValues } from '../../src/platform/config/setting-definition.js';
import { MODEL_FIELDS } from '../../src/platform/config/model-fields.js';
import { SETTING_PATHS, settingDefinition } from '../../src/platform/config/settings.js';
import { type MetricDefinition, METRICS } from '../../src/platform/metrics/registry.js';
import { KEYWORDS } from '../../src/worker/engines/llama-cpp/grammar/schema-keywords.js';

type Tables = Readonly<Record<string, () => string>>;

const FRONT_TABLES: Tables = {
  endpoints: () =>
    table(
      ['route', 'what'],
      (ENDPOINTS as readonly Endpoint[]).map(({ method, path, summary }) => [code(`${method} ${path}`), summary]),
    ),
  errors: () =>
    table(
      ['status', 'code', 'type', 'retry', 'meaning'],
      Object.entries<ErrorDefinition>(ERROR_REGISTRY)
        .sort(([, a], [, b]) => a.status - b.status)
        .map(([name, { status, type, retry, help }]) => [String(status), code(name), code(type), retry, help]),
    ),
  settings: () =>
    table(
      ['setting', 'default', 'allowed', 'what'],
      SETTING_PATHS.map(path => {
        const definition = settingDefinition(path);
        return [
          code(path),
          definition.default === '' ? 'empty' : code(String(definition.default)),
          allowedValues(definition),
          definition.help,
        ];
      }),
    ),
  metrics: () =>
    table(
      ['metric', 'type', 'labels', 'what'],
      Object.entries<MetricDefinition>(METRICS).map(([name, { type, labels, help }]) => [
        code(name),
        type,
        labels.map(code).join(' '),
        help,
      ]),
    ),
};

const PLATFORM_TABLES: Tables = {
  'model-fields': () =>
    table(
      ['field', 'left out', 'allowed', 'what'],
      Object.entries(MODEL_FIELDS).map(([name, field]) => [
        code(name),
        field.default ?? 'not possible',
        field.allowed,
        field.help,
      ]),
    ),
};

const ENGINE_TABLES: Tables = {
  'schema-keywords': () =>
    table(
      ['keyword', 'treatment', 'how far'],
      Object.entries(KEYWORDS).map(([name, { treatment, note = '' }]) => [code(name), treatment, note]),
    ),
};

/** Tables that are made from the registries: file → marker name → Markdown. */
export const README_TABLES: Readonly<Record<string, Tables>> = {
  'README.md': FRONT_TABLES,
  'src/platform/README.md': PLATFORM_TABLES,
  'src/worker/engines/README.md': ENGINE_TABLES,
};

/**
 * `readme` with every `<!-- NAME:start --> … <!-- NAME:end -->` filled from the registries.
 * @throws Error when a table has no markers: a registry that nobody can read about.
 */
export function withTables(readme: string, file = 'README.md'): string {
  return Object.entries(README_TABLES[file] ?? {}).reduce((text, [name, render]) => {
    const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`];
    const [from, to] = [text.indexOf(start), text.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`${file} has no ${start} … ${end}`);
    return `${text.slice(0, from + start.length)}\n${render()}\n${text.slice(to)}`;
  }, readme);
}

const code = (text: string): string => `\`${text}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
