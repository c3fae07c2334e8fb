import {
  ANYTHING,
  FLAG,
  listOf,
  mapOf,
  matching,
  objectOf,
  type ObjectRules,
  optional,
  TEXT,
  wholeNumberFrom,
} from '../../core/shared/schema.js';

/** A file of a repository; a name with `*` stands for all that fit. */
export interface CatalogueFile {
  readonly bytes?: number;
  readonly sha256?: string;
}

export interface CatalogueSource {
  /** `hf:organisation/name@commit`, as `models pull` takes it. */
  readonly from: string;
  readonly files: Readonly<Record<string, CatalogueFile>>;
}

/** One entry of config/catalogue.yaml, whose head explains the fields. */
export interface CatalogueEntry {
  readonly name: string;
  readonly summary: string;
  readonly licence?: string;
  readonly aliases: readonly string[];
  readonly memory?: { readonly cpu_mb?: number; readonly cuda_mb?: number };
  readonly engine?: string;
  readonly unverified?: boolean;
  /** Empty: the model runs on a server elsewhere. */
  readonly sources: Readonly<Record<string, CatalogueSource>>;
  readonly entry: Readonly<Record<string, unknown>>;
  readonly devices?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const NAME = matching(/^[A-Za-z0-9][\w.-]{0,127}$/, 'letters, digits and . _ -, at most 128');
const MAP = mapOf(ANYTHING, 'pairs of name and value');
const SIZE = wholeNumberFrom(0, Number.MAX_SAFE_INTEGER);

const FILE = objectOf(
  { bytes: optional(SIZE), sha256: optional(matching(/^[0-9a-f]{64}$/, '64 hexadecimal digits')) },
  '{ bytes, sha256 }, both optional',
);

const SOURCE = objectOf(
  { from: matching(/^hf:\S+$/, 'hf:organisation/name@commit'), files: mapOf(FILE, 'files, each { bytes, sha256 }') },
  '{ from, files }',
);

export const CATALOGUE_FIELDS: ObjectRules = {
  name: NAME,
  summary: TEXT,
  licence: optional(TEXT),
  aliases: optional(listOf(TEXT, 'names')),
  memory: optional(objectOf({ cpu_mb: optional(SIZE), cuda_mb: optional(SIZE) }, '{ cpu_mb, cuda_mb }')),
  engine: optional(TEXT),
  unverified: optional(FLAG),
  sources: optional(mapOf(SOURCE, 'sources by name, each { from, files }', NAME)),
  entry: MAP,
  devices: optional(mapOf(MAP, 'changes of the entry by device')),
};

/** A branch may move, and an unverified size cannot be compared: what `unverified: true` stands for. */
export const isUnverified = ({ sources }: Pick<CatalogueEntry, 'sources'>): boolean =>
  Object.values(sources).some(
    ({ from, files }) => !/@[0-9a-f]{40}$/.test(from) || Object.values(files).some(({ bytes }) => bytes === undefined),
  );

/** Of all files, as far as the catalogue knows. */
export const knownBytes = ({ sources }: CatalogueEntry): number =>
  Object.values(sources)
    .flatMap(({ files }) => Object.values(files))
    .reduce((sum, { bytes = 0 }) => sum + bytes, 0);

/** First device: the default. An entry without `devices` runs where its engine does. */
export const devicesOf = ({ devices = {} }: CatalogueEntry): readonly string[] => Object.keys(devices);

export const kindOf = ({ entry }: CatalogueEntry): string => String(entry.kind);
export const engineOf = ({ entry }: CatalogueEntry): string => String(entry.engine);
export const languagesOf = ({ entry }: CatalogueEntry): readonly string[] => (entry.languages as string[]) ?? [];
