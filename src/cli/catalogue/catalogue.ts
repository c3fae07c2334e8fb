import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMap, isSeq, stringify } from 'yaml';
import { editDistance } from '@switchyard/engine-api/nearest-name.js';
import { readFields } from '../../contracts/schema/field-problems.js';
import { ownName } from '@switchyard/engine-api/own-name.js';
import { modelsFromFile } from '../../platform/config/models-file.js';
import {
  ConfigError,
  type ConfigProblem,
  parseYaml,
  placed,
  readYamlFile,
  type YamlFile,
} from '../../platform/config/yaml-file.js';
import { CliError, EXIT } from '../shared/cli-error.js';
import { parseSource } from '../hub/model-source.js';
import {
  CATALOGUE_ENTRY,
  type CatalogueEntry,
  devicesOf,
  isUnverified,
} from './catalogue-entry.js';
import { modelEntry } from './model-entry.js';

const OWN_FILE = fileURLToPath(
  new URL('../../../config/catalogue.yaml', import.meta.url),
);

/** The entries that come with Switchyard, and those of the user's file, which win. */
export class Catalogue {
  private constructor(readonly entries: readonly CatalogueEntry[]) {}

  /**
   * @param more `hub.catalogue_file`; empty: none. @throws ConfigError with every
   *   problem, its line and column
   */
  static load(more: string): Catalogue {
    const files = [OWN_FILE, ...(more === '' ? [] : [resolve(more)])].map(readCatalogue);
    const problems = files.flatMap(file => file.problems);
    if (problems.length > 0) throw new ConfigError(problems);
    const byName = new Map(
      files.flatMap(({ entries }) => entries).map(entry => [entry.name, entry]),
    );
    return new Catalogue([...byName.values()]);
  }

  /** @throws CliError exit code 2 with the closest names */
  find(name: string): CatalogueEntry {
    const entry = this.entries.find(one => one.name === name);
    if (entry) return entry;
    const near = this.closest(name).join(', ');
    const all = `${ownName()} models search`;
    throw new CliError(
      `the catalogue has no ${name}; closest: ${near}. All: ${all}`,
      EXIT.usage,
    );
  }

  /** By letters in common order, names that contain what was typed first. */
  closest(name: string): readonly string[] {
    const typed = name.toLowerCase();
    const rank = (other: string) =>
      other.includes(typed) ? 0 : editDistance(typed, other.toLowerCase());
    return this.entries
      .map(entry => entry.name)
      .sort((a, b) => rank(a) - rank(b))
      .slice(0, 3);
  }
}

interface ReadCatalogue {
  readonly entries: readonly CatalogueEntry[];
  readonly problems: readonly ConfigProblem[];
}

function readCatalogue(path: string): ReadCatalogue {
  const file = readYamlFile(path, path);
  if (!file)
    return {
      entries: [],
      problems: [
        { origin: path, message: 'no such file; `hub.catalogue_file` names it' },
      ],
    };
  const list: unknown = file.document.get('catalogue');
  if (file.problems.length > 0) return { entries: [], problems: file.problems };
  if (!isSeq(list)) {
    return {
      entries: [],
      problems: [{ origin: path, message: 'must hold `catalogue:` and a list below it' }],
    };
  }
  const read = list.items.map((node, index) =>
    readEntry(file, node, `catalogue[${index}]`),
  );
  return {
    entries: read.flatMap(({ entry }) => entry ?? []),
    problems: read.flatMap(({ problems }) => problems),
  };
}

function readEntry(
  file: YamlFile,
  node: unknown,
  path: string,
): { entry?: CatalogueEntry; problems: ConfigProblem[] } {
  // Anchors of the document are followed here; a copy, so that a change of one entry
  // leaves the others.
  const raw: unknown = isMap(node) ? structuredClone(node.toJS(file.document)) : node;
  const { data, problems: found } = readFields(CATALOGUE_ENTRY, raw);
  if (!data)
    return { problems: found.map(problem => placed(file, { node, path }, problem)) };
  const entry = { ...data, aliases: data.aliases ?? [], sources: data.sources ?? {} };
  const problems = meaningProblems(entry).map(message =>
    placed(file, { node, path }, { path: ['entry'], message }),
  );
  return { entry, problems };
}

/**
 * What no rule of a single field can see: sources that cannot be asked for, and entries
 * that models.yaml refuses.
 */
function meaningProblems(entry: CatalogueEntry): readonly string[] {
  const flag = isUnverified(entry) !== (entry.unverified ?? false);
  return [
    ...(flag
      ? [
          `unverified must be ${!entry.unverified}: commits and sizes of all files decide it`,
        ]
      : []),
    ...Object.values(entry.sources).flatMap(({ from }) => sourceProblem(from)),
    ...(devicesOf(entry).length > 0 ? devicesOf(entry) : [undefined]).flatMap(device =>
      entryProblems(entry, device),
    ),
  ];
}

function sourceProblem(from: string): string[] {
  try {
    parseSource(from);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

function entryProblems(
  entry: CatalogueEntry,
  device: string | undefined,
): readonly string[] {
  const values = {
    data: 'data',
    upstream: 'http://127.0.0.1:1/v1',
    upstream_model: 'x',
    model_id: entry.name,
  };
  const folders = Object.fromEntries(
    Object.keys(entry.sources).map(name => [name, `/models/${name}`]),
  );
  const { aliases } = entry;
  const model = modelEntry(entry, {
    id: entry.name,
    aliases,
    device,
    values: { ...values, ...folders },
  });
  const { problems } = modelsFromFile(
    parseYaml(stringify({ models: [model] }), entry.name),
  );
  return problems.map(({ path, message }) => `${path ?? entry.name} ${message}`);
}
