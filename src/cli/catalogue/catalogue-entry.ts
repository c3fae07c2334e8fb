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

/** A file of a repository; a name with `*` stands for all that fit. */
const FILE = objectOf(
  {
    bytes: optional(SIZE),
    sha256: optional(matching(/^[0-9a-f]{64}$/, '64 hexadecimal digits')),
  },
  '{ bytes, sha256 }, both optional',
);

const SOURCE = objectOf(
  {
    // As `models pull` takes it.
    from: matching(/^hf:\S+$/, 'hf:organisation/name@commit'),
    files: mapOf(FILE, 'files, each { bytes, sha256 }'),
  },
  '{ from, files }',
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
    sources: optional(mapOf(SOURCE, 'sources by name, each { from, files }', NAME)),
    entry: MAP,
    devices: optional(mapOf(MAP, 'changes of the entry by device')),
  },
  'a model with name, …',
);

type WrittenEntry = z.output<typeof CATALOGUE_ENTRY>;
export type CatalogueEntry = WrittenEntry &
  Required<Pick<WrittenEntry, 'aliases' | 'sources'>>;

/**
 * A branch may move, and an unverified size cannot be compared: what `unverified:
 * true` stands for.
 */
export const isUnverified = ({ sources }: Pick<CatalogueEntry, 'sources'>): boolean =>
  Object.values(sources).some(
    ({ from, files }) =>
      !/@[0-9a-f]{40}$/.test(from) ||
      Object.values(files).some(({ bytes }) => bytes === undefined),
  );

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
