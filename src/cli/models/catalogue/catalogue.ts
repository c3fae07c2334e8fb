import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type FieldProblem, readFields } from '@switchyard/engine-api/field-problems.js';
import { isObject } from '@switchyard/engine-api/is-object.js';
import { editDistance } from '@switchyard/engine-api/nearest-name.js';
import { ownName } from '@switchyard/engine-api/own-name.js';
import {
  ANYTHING,
  FLAG,
  listOf,
  mapOf,
  matching,
  objectOf,
  optional,
  TEXT,
  wholeNumberFrom,
} from '@switchyard/engine-api/rules.js';
import { isMap, isSeq, stringify } from 'yaml';
import { type z } from 'zod';
import { modelsFromFile } from '../../../platform/config/models-file.js';
import {
  ConfigError,
  type ConfigProblem,
  parseYaml,
  placed,
  readYamlFile,
} from '../../../platform/config/yaml-file.js';
import { usageError } from '../../shared/cli-error.js';
import { parseSource } from '../hub/model-source.js';

const NAME = matching(/^[A-Za-z0-9][\w.-]{0,127}$/, 'letters, digits and . _ -, at most 128');
const MAP = mapOf(ANYTHING, 'pairs of name and value');
const SIZE = wholeNumberFrom(0, Number.MAX_SAFE_INTEGER);

const SHA256 = matching(/^[0-9a-f]{64}$/, '64 hexadecimal digits');

/** A file of a repository; a name with `*` stands for all that fit. */
const FILE = objectOf(
  {
    bytes: optional(SIZE),
    sha256: optional(SHA256),
  },
  '{ bytes, sha256 }, both optional',
);

const PACKAGE = objectOf(
  {
    name: NAME,
    version: matching(/^\d[\w.]*$/, 'an exact version'),
    bytes: SIZE,
    sha256: SHA256,
    // Tag of the wheel, where there is one for each platform; its files are data on all of them.
    platform: optional(matching(/^\w+$/, 'a tag such as manylinux_2_34_x86_64')),
    members: mapOf(TEXT, 'files of the source by their paths in the package'),
  },
  '{ name, version, bytes, sha256, platform, members }',
);

const SOURCE = objectOf(
  {
    // `package`: there is no repository, only `package` below.
    from: matching(/^(hf|package):\S+$/, 'hf:organisation/name@commit or package:name@version'),
    files: mapOf(FILE, 'files, each { bytes, sha256 }'),
    // Where the same files are, if the hub cannot be reached.
    package: optional(listOf(PACKAGE, 'packages of the Python package index')),
  },
  '{ from, files, package }',
);

/** One entry of config/catalogue.yaml, whose head explains the fields. */
export const CATALOGUE_ENTRY = objectOf(
  {
    name: NAME,
    summary: TEXT,
    licence: optional(TEXT),
    aliases: optional(listOf(TEXT, 'names')),
    memory: optional(
      objectOf({ cpu_mb: optional(SIZE), cuda_mb: optional(SIZE) }, '{ cpu_mb, cuda_mb }'),
    ),
    engine: optional(TEXT),
    unverified: optional(FLAG),
    // Empty: the model runs on a server elsewhere.
    sources: optional(mapOf(SOURCE, 'sources by name, each { from, files, package }', NAME)),
    entry: MAP,
    devices: optional(mapOf(MAP, 'changes of the entry by device')),
  },
  'a model with name, …',
);

type WrittenEntry = z.output<typeof CATALOGUE_ENTRY>;
export type CatalogueEntry = WrittenEntry &
  Required<Pick<WrittenEntry, 'aliases' | 'sources'>> & {
    /** The entry for models.yaml, which must be valid there. */
    readonly entry: {
      readonly kind: string;
      readonly engine: string;
      readonly languages?: readonly string[];
    };
  };

/**
 * Neither a commit nor sizes and checksums say which bytes the files have: what
 * `unverified: true` stands for.
 */
const isUnverified = ({ sources }: Pick<CatalogueEntry, 'sources'>) =>
  Object.values(sources).some(
    ({ from, files }) => !/@[0-9a-f]{40}$/.test(from) && !isChecked(files),
  );

const isChecked = (files: CatalogueEntry['sources'][string]['files']) =>
  Object.values(files).every(({ bytes, sha256 }) => bytes !== undefined && sha256 !== undefined);

/** Why packages cannot replace a source; undefined: they can. */
function packageProblem({
  from,
  files,
  package: packages = [],
}: CatalogueEntry['sources'][string]): string | undefined {
  if (packages.length === 0) return from.startsWith('package:') ? 'must have `package`' : undefined;
  const held = new Set(packages.flatMap(({ members }) => Object.values(members)));
  const isWhole =
    held.size === Object.keys(files).length && Object.keys(files).every(name => held.has(name));
  if (isWhole && isChecked(files)) return undefined;
  return 'package must hold each of `files` and no other, and each needs bytes and sha256';
}

/** Bytes of all files whose size the catalogue knows. */
export const knownBytes = ({ sources }: CatalogueEntry): number =>
  Object.values(sources)
    .flatMap(({ files }) => Object.values(files))
    .reduce((sum, { bytes = 0 }) => sum + bytes, 0);

/** First device: the default. An entry without `devices` runs where its engine does. */
export const devicesOf = ({ devices = {} }: CatalogueEntry): readonly string[] =>
  Object.keys(devices);

/** Values by the names that an entry has in braces. */
type Values = Readonly<Record<string, string | undefined>>;

/**
 * The entry of models.yaml that a catalogue entry stands for. @throws CliError for a
 * device or value it cannot have
 */
export function modelEntry(
  entry: CatalogueEntry,
  {
    id,
    aliases,
    device,
    values,
  }: {
    readonly id: string;
    readonly aliases: readonly string[];
    /** The device; default: the first one of the entry. */
    readonly device: string | undefined;
    /** Folders by source, `data`, `upstream`, `upstream_model`. */
    readonly values: Values;
  },
) {
  const [first] = devicesOf(entry);
  const chosen = device ?? first;
  if (device !== undefined && !devicesOf(entry).includes(device)) {
    const known = devicesOf(entry).join(', ') || `none; ${entry.name} runs where its engine does`;
    throw usageError(`${entry.name} has no device ${device}; it has ${known}`);
  }
  const changes = chosen === undefined ? {} : (entry.devices?.[chosen] ?? {});
  const texts: Values = { ...values, model_id: id };
  // Braces that are no names of ours stay: `{port}` is filled in when the worker starts.
  const filled = (text: string) =>
    text.replace(/\{([\w.-]+)\}/g, (braces, name: string) =>
      Object.hasOwn(texts, name) ? (texts[name] ?? missing(name)) : braces,
    );
  const written = JSON.stringify(merged(entry.entry, changes));
  const { kind, engine, ...rest } = JSON.parse(written, (_, value: unknown) =>
    typeof value === 'string' ? filled(value) : value,
  ) as Entry;
  return { id, kind, engine, ...(aliases.length > 0 && { aliases }), ...rest };
}

type Entry = Readonly<Record<string, unknown>>;

/** Maps are joined, everything else is replaced. */
function merged(base: Entry, changes: Entry): Entry {
  const joined = Object.entries(changes).map(([name, value]) => {
    const before = base[name];
    return [name, isObject(before) && isObject(value) ? merged(before, value) : value] as const;
  });
  return { ...base, ...Object.fromEntries(joined) };
}

function missing(name: string): never {
  const option = `--${name.replaceAll('_', '-')}`;
  throw usageError(`this model runs on a server elsewhere: ${option} says where (see --help)`);
}

const OWN_FILE = fileURLToPath(new URL('../../../../config/catalogue.yaml', import.meta.url));

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
    throw usageError(`the catalogue has no ${name}; closest: ${near}. All: ${all}`);
  }

  /** The most similar names; those that contain the typed text come first. */
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
function* readCatalogue(path: string, problems: ConfigProblem[]): Generator<CatalogueEntry> {
  const refuse = (message: string) => void problems.push({ origin: path, message });
  const file = readYamlFile(path, path);
  if (!file) return refuse('no such file; `hub.catalogue_file` names it');
  problems.push(...file.problems);
  const list: unknown = file.document.get('catalogue');
  if (file.problems.length > 0) return;
  if (!isSeq(list)) return refuse('must hold `catalogue:` and a list below it');
  for (const [index, node] of list.items.entries()) {
    const at = (found: FieldProblem) => placed(file, { node, path: `catalogue[${index}]` }, found);
    // Anchors of the document are followed here; a copy, so that a change of one entry
    // leaves the others.
    const raw: unknown = isMap(node) ? structuredClone(node.toJS(file.document)) : node;
    const { data, problems: found } = readFields(CATALOGUE_ENTRY, raw);
    problems.push(...found.map(at));
    if (!data) continue;
    const { aliases = [], sources = {} } = data;
    const entry = { ...data, aliases, sources } as CatalogueEntry;
    for (const message of meaningProblems(entry)) problems.push(at({ path: ['entry'], message }));
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

function* entryProblems(entry: CatalogueEntry, device: string | undefined): Generator<string> {
  const { name: id, aliases } = entry;
  const folders = Object.keys(entry.sources).map(name => [name, `/models/${name}`]);
  const values: Values = {
    ...Object.fromEntries(folders),
    data: 'data',
    upstream: 'http://127.0.0.1:1/v1',
    upstream_model: 'x',
  };
  const model = modelEntry(entry, { id, aliases, device, values });
  const file = parseYaml(stringify({ models: [model] }), id);
  for (const { path, message } of modelsFromFile(file).problems) yield `${path ?? id} ${message}`;
}
