import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMap, isSeq, stringify } from 'yaml';
import { editDistance } from '@switchyard/engine-api/nearest-name.js';
import { type FieldProblem, readFields } from '../../contracts/schema/field-problems.js';
import { ownName } from '@switchyard/engine-api/own-name.js';
import { modelsFromFile } from '../../platform/config/models-file.js';
import {
  ConfigError,
  type ConfigProblem,
  parseYaml,
  placed,
  readYamlFile,
} from '../../platform/config/yaml-file.js';
import { CliError, EXIT } from '../shared/cli-error.js';
import { parseSource } from '../hub/model-source.js';
import {
  CATALOGUE_ENTRY,
  type CatalogueEntry,
  devicesOf,
  isUnverified,
  packageProblem,
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
    const problems: ConfigProblem[] = [];
    const byName = new Map<string, CatalogueEntry>();
    for (const path of more === '' ? [OWN_FILE] : [OWN_FILE, resolve(more)])
      for (const entry of readCatalogue(path, problems)) byName.set(entry.name, entry);
    if (problems.length > 0) throw new ConfigError(problems);
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

/** The entries of a file; what is wrong with it is added to `problems`. */
function* readCatalogue(
  path: string,
  problems: ConfigProblem[],
): Generator<CatalogueEntry> {
  const refuse = (message: string) => void problems.push({ origin: path, message });
  const file = readYamlFile(path, path);
  if (!file) return refuse('no such file; `hub.catalogue_file` names it');
  problems.push(...file.problems);
  const list: unknown = file.document.get('catalogue');
  if (file.problems.length > 0) return;
  if (!isSeq(list)) return refuse('must hold `catalogue:` and a list below it');
  for (const [index, node] of list.items.entries()) {
    const at = (found: FieldProblem) =>
      placed(file, { node, path: `catalogue[${index}]` }, found);
    // Anchors of the document are followed here; a copy, so that a change of one entry
    // leaves the others.
    const raw: unknown = isMap(node) ? structuredClone(node.toJS(file.document)) : node;
    const { data, problems: found } = readFields(CATALOGUE_ENTRY, raw);
    problems.push(...found.map(at));
    if (!data) continue;
    const entry = { ...data, aliases: data.aliases ?? [], sources: data.sources ?? {} };
    for (const message of meaningProblems(entry))
      problems.push(at({ path: ['entry'], message }));
    yield entry;
  }
}

/**
 * What no rule of a single field can see: sources that cannot be asked for, and entries
 * that models.yaml refuses.
 */
function* meaningProblems(entry: CatalogueEntry): Generator<string> {
  if (isUnverified(entry) !== (entry.unverified ?? false))
    yield `unverified must be ${!entry.unverified}: a commit, or size and checksum of each file, decide it`;
  for (const source of Object.values(entry.sources)) {
    const problem = packageProblem(source);
    if (problem !== undefined) yield problem;
    try {
      parseSource(source.from);
    } catch (error) {
      yield (error as Error).message;
    }
  }
  const devices = devicesOf(entry);
  for (const device of devices.length > 0 ? devices : [undefined])
    yield* entryProblems(entry, device);
}

function* entryProblems(
  entry: CatalogueEntry,
  device: string | undefined,
): Generator<string> {
  const { name: id, aliases } = entry;
  const values: Record<string, string> = {
    data: 'data',
    upstream: 'http://127.0.0.1:1/v1',
    upstream_model: 'x',
    model_id: id,
  };
  for (const name of Object.keys(entry.sources)) values[name] = `/models/${name}`;
  const model = modelEntry(entry, { id, aliases, device, values });
  const file = parseYaml(stringify({ models: [model] }), id);
  for (const { path, message } of modelsFromFile(file).problems)
    yield `${path ?? id} ${message}`;
}
