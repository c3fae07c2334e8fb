import { KEYWORDS } from '@switchyard/json-schema-gbnf/schema-keywords.js';
import {
  Catalogue,
  type CatalogueEntry,
  devicesOf,
  knownBytes,
} from '../../src/cli/models/catalogue/catalogue.js';
import { exitRows } from '../../src/cli/program.js';
import { byteText } from '../../src/cli/shared/terminal.js';
import { ENDPOINTS } from '../../src/contracts/endpoints.js';
import { ERROR_REGISTRY } from '../../src/contracts/errors/error-registry.js';
import { ENGINE_TABLE } from '../../src/main.scripts.js';
import { DEVICE_FIELDS } from '../../src/platform/config/device-fields.js';
import { MODEL_FIELDS } from '../../src/platform/config/model-fields.js';
import {
  BASIC_SETTINGS,
  type SettingPath,
  SETTING_PATHS,
  settingDefinition,
} from '../../src/platform/config/settings.js';
import { type MetricDefinition } from '../../src/platform/metrics/metric-definition.js';
import { METRICS } from '../../src/platform/metrics/registry.js';
import { OPEN_RESPONSES_CASES, OPEN_RESPONSES_OTHERS } from '../../test/support/open-responses.js';
import { COMMAND_LINE, leafCommands, manualHelpOf } from './command-tree.js';
import { fieldLists } from './field-lists.js';
import { code, list, table } from './markdown.js';

type Tables = Readonly<Record<string, () => string>>;

const ENDPOINT_TABLES: Tables = {
  endpoints: () =>
    list(ENDPOINTS.map(({ method, path, summary }) => `${code(`${method} ${path}`)}: ${summary}`)),
};

const ERRORS = Object.entries(ERROR_REGISTRY);

const ERROR_TABLES: Tables = {
  errors: () =>
    [...Map.groupBy(ERRORS, ([, { status }]) => status)]
      .toSorted(([a], [b]) => a - b)
      .map(([status, errors]) => `### ${status}\n\n${list(errors.map(errorItem))}`)
      .join('\n\n'),
};

function errorItem([name, error]: (typeof ERRORS)[number]): string {
  const { status, type, retry, help } = error;
  const when = retry === 'never' ? '' : ` (retry ${retry})`;
  return `${code(name)}${when}: ${help}${type === usualType(status) ? '' : ` Type ${code(type)}.`}`;
}

/** The page says this in a sentence. */
function usualType(status: number): string {
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}

const settingList = (paths: readonly SettingPath[]) => list(paths.map(settingItem));

/** What needs no range: text, which is not empty unless its default is, and flags. */
const FREE: ReadonlySet<string> = new Set(['text', 'text, not empty', 'true or false']);

/** `a number from 1 to 9 ms` is `1-9`: the name of the setting ends with its unit. */
function rangeOf(path: SettingPath, allowed: string): string {
  const range = allowed
    .replace(/^one of /, '')
    .replace(/^a (?:whole )?number from (\S+) to /, '$1-');
  const [last = '', unit] = range.split(' ');
  return path.endsWith(`_${unit}`) ? last : range;
}

/** Its variable follows from its path, as the page says. */
function settingItem(path: SettingPath): string {
  const { default: initial, allowed, help } = settingDefinition(path);
  const value = initial === '' ? 'empty' : code(String(initial));
  const range = FREE.has(allowed) ? '' : `; ${rangeOf(path, allowed)}`;
  return `${code(path)} (${value}${range}): ${help}`;
}

const SETTING_TABLES: Tables = {
  settings: () => settingList(BASIC_SETTINGS),
  'advanced settings': () =>
    settingList(SETTING_PATHS.filter(path => !BASIC_SETTINGS.includes(path))),
};

const METRIC_TABLES: Tables = {
  metrics: () =>
    list(
      Object.entries<MetricDefinition>(METRICS).map(([name, { type, labels, help }]) => {
        const kind = name.endsWith('_total') && type === 'counter' ? [] : [type];
        const facts = [...kind, ...labels.map(code)].join(', ');
        return `${code(name)}${facts && ` (${facts})`}: ${help}`;
      }),
    ),
};

const fileFields = (fields: Readonly<Record<string, (typeof MODEL_FIELDS)['id']>>): string =>
  list(
    Object.entries(fields).map(([name, { default: unset = 'required', allowed, help }]) => {
      const range = FREE.has(allowed) ? '' : ` Allowed: ${allowed.replace(/^one of /, '')}.`;
      return `${code(name)} (${unset}): ${help}${range}`;
    }),
  );

const MODEL_TABLES: Tables = {
  'model-fields': () => fileFields(MODEL_FIELDS),
  'device-fields': () => fileFields(DEVICE_FIELDS),
};

const CATALOGUE_PAGE = 'docs/reference/models.md';

const CATALOGUE_TABLES: Tables = {
  catalogue: () => list(Catalogue.load('').entries.map(catalogueItem)),
};

function catalogueItem(entry: CatalogueEntry): string {
  const sources = Object.values(entry.sources).flatMap(({ from, package: packages = [] }) => [
    ...(from.startsWith('hf:') ? [code(from.replace(/(@[0-9a-f]{12})[0-9a-f]+$/, '$1'))] : []),
    ...packages.map(({ name, version }) => code(`pip ${name} ${version}`)),
  ]);
  const { engine, languages = [] } = entry.entry;
  const voices = Object.keys((entry.entry.voices as object | undefined) ?? {}).length;
  const facts = [
    [engine, ...devicesOf(entry)].join(', '),
    ...(languages.length > 5 ? [`${languages.length} languages`] : [languages.join(', ')]),
    voices > 0 ? `${voices} voices` : '',
    sizeText(entry),
    entry.licence ?? '',
    sources.join(', ') || 'a server elsewhere',
  ];
  return `${code(entry.name)}: ${entry.summary}. ${facts.filter(Boolean).join('; ')}`;
}

function sizeText(entry: CatalogueEntry): string {
  if (Object.keys(entry.sources).length === 0) return '';
  const bytes = knownBytes(entry);
  const { cpu_mb: cpu, cuda_mb: cuda } = entry.memory ?? {};
  return [
    bytes === 0 ? 'unknown' : byteText(bytes),
    ...(cpu ? [`memory on a CPU ${cpu} MB`] : []),
    ...(cuda ? [`memory on CUDA ${cuda} MB`] : []),
    ...(entry.unverified ? ['unverified'] : []),
  ].join(', ');
}

const ENGINE_TABLES: Tables = {
  'schema-keywords': () =>
    table(
      ['keyword', 'treatment', 'how far'],
      Object.entries(KEYWORDS).map(([name, { treatment, note = '' }]) => [
        code(name),
        treatment,
        note,
      ]),
    ),
};

/** Engines with the same cells share a row. */
const engineTable = (
  head: readonly string[],
  cells: (row: (typeof ENGINE_TABLE)[string]) => readonly string[],
): string =>
  table(
    ['engine', ...head],
    [...Map.groupBy(Object.entries(ENGINE_TABLE), ([, row]) => cells(row).join('|'))].map(
      ([, alike]) => [alike.map(([name]) => code(name)).join(', '), ...cells(alike[0]![1])],
    ),
  );

const CHOICE_TABLES: Tables = {
  'engine-capabilities': () =>
    engineTable(['kind', 'can', 'cannot'], ({ kinds, capabilities, without = '' }) => [
      kinds.join(', '),
      capabilities.map(code).join(', ') || 'what you list in `capabilities`',
      without,
    ]),
  'engine-devices': () =>
    engineTable(
      ['CPU', 'CUDA', 'Vulkan', 'elsewhere'],
      ({ devices: { cpu, cuda, vulkan }, elsewhere = '' }) => [
        ...[cpu, cuda, vulkan].map(text => text ?? 'no'),
        elsewhere,
      ],
    ),
};

/** Commands by their group; one of no group is a group of its own. */
const commandGroups = () =>
  [...Map.groupBy(leafCommands(COMMAND_LINE), ({ words }) => words.split(' ')[0]!)].map(
    ([group, commands]) => ({ group, commands: commands.map(({ command }) => command) }),
  );

const COMMAND_TABLES: Tables = {
  commands: () =>
    commandGroups()
      .map(({ group }) => `[${group}](#${group})`)
      .join(', '),
  'exit-codes': () => table(['exit code', 'meaning'], exitRows()),
  help: () =>
    commandGroups()
      .map(({ group, commands }) => {
        const help = commands.map(manualHelpOf).join('\n\n');
        return `### ${group}\n\n\`\`\`text\n${help}\n\`\`\``;
      })
      .join('\n\n'),
};

const OPEN_RESPONSES_TABLES: Tables = {
  'open-responses': () =>
    [
      `${OPEN_RESPONSES_CASES.length} rules pass. The others:`,
      table(['rule', 'result'], OPEN_RESPONSES_OTHERS),
    ].join('\n\n'),
};

/** Tables generated from the registries: file → marker name → Markdown. */
export const REFERENCE_TABLES: Readonly<Record<string, Tables>> = {
  'docs/reference/http-api.md': ENDPOINT_TABLES,
  'docs/reference/fields.md': fieldLists,
  'docs/reference/cli.md': COMMAND_TABLES,
  'docs/reference/errors.md': ERROR_TABLES,
  'docs/reference/settings.md': SETTING_TABLES,
  'docs/reference/metrics.md': METRIC_TABLES,
  'docs/reference/open-responses.md': OPEN_RESPONSES_TABLES,
  'docs/reference/models-yaml.md': MODEL_TABLES,
  'docs/guides/choose-an-engine.md': CHOICE_TABLES,
  [CATALOGUE_PAGE]: CATALOGUE_TABLES,
  'packages/json-schema-gbnf/README.md': ENGINE_TABLES,
};

/**
 * Fills every `<!-- NAME:start --> … <!-- NAME:end -->` of `page` from the registries.
 * @throws Error when the page lacks the markers of one of its tables
 */
export function withTables(page: string, file: string): string {
  return Object.entries(REFERENCE_TABLES[file] ?? {}).reduce((text, [name, render]) => {
    const [start, end] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`];
    const [from, to] = [text.indexOf(start), text.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`${file} has no ${start} … ${end}`);
    return `${text.slice(0, from + start.length)}\n${render()}\n${text.slice(to)}`;
  }, page);
}
