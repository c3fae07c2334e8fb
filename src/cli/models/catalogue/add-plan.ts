import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ownName } from '@switchyard/engine-api/own-name.js';
import { isStandIn, type ModelSpec } from '../../../platform/config/model-spec.js';
import { type Settings } from '../../../platform/config/settings.js';
import { CliError, usageError } from '../../shared/cli-error.js';
import { engineVersion, PACKAGED_ENGINES } from '../engines/engine-packages.js';
import { type PullRequest } from '../hub/model-pull.js';
import { type ModelSource, parseSource, sourceText, suggestedName } from '../hub/model-source.js';
import { findingsOf, ModelStore, readManifest, type PullManifest } from '../hub/model-store.js';
import { type CatalogueEntry, modelEntry } from './catalogue.js';

export interface PlannedSource extends PullRequest {
  /** Packages with the same files, for when the hub cannot be reached. */
  readonly packages: CatalogueEntry['sources'][string]['package'];
  /**
   * The manifest of files that are on disk and checked, so that no hub is asked; undefined:
   * some are missing.
   */
  readonly present: PullManifest | undefined;
}

/** All that `models add` does for one model, before any of it is done. */
export interface AddPlan {
  readonly entry: CatalogueEntry;
  readonly id: string;
  readonly sources: readonly PlannedSource[];
  /** The entry to write; undefined: models.yaml has one already, which stays as it is. */
  readonly model: ReturnType<typeof modelEntry> | undefined;
  readonly aliases: readonly string[];
  /** Alias → the model that loses it. */
  readonly moved: Readonly<Record<string, string>>;
  /** Alias → the real model that keeps it. */
  readonly kept: Readonly<Record<string, string>>;
}

interface PlanContext {
  readonly settings: Settings;
  readonly models: readonly Pick<ModelSpec, 'id' | 'engine' | 'aliases' | 'standIn'>[];
  readonly signal: AbortSignal;
}

/** @throws CliError for what cannot be added as it is asked for; nothing was done */
export async function planAdd(
  entry: CatalogueEntry,
  options: {
    readonly as?: string | undefined;
    readonly device?: string | undefined;
    /** Comma-separated, also of real models; false: none (default: those of the entry). */
    readonly aliases?: string | boolean | undefined;
    readonly upstream?: string | undefined;
    readonly upstreamModel?: string | undefined;
    readonly replace?: boolean | undefined;
  },
  context: PlanContext,
): Promise<AddPlan> {
  const { settings, models } = context;
  // Before a byte is downloaded that no engine could load.
  const missing = missingEngine(entry, settings);
  if (missing !== undefined) throw new CliError(missing);
  const id = options.as ?? entry.name;
  const stays = models.some(model => model.id === id) && options.replace !== true;
  const names = stays
    ? { aliases: [], moved: {}, kept: {} }
    : takenAliases(id, options.aliases ?? true, entry.aliases, models);
  const sources = await Promise.all(
    Object.values(entry.sources).map(source => planSource(source, context)),
  );
  const folders = Object.keys(entry.sources).map(
    (name, at) => [name, sources[at]?.folder] as const,
  );
  const { upstream, upstreamModel: upstream_model } = options;
  const values = {
    ...Object.fromEntries(folders),
    data: settings.data.dir,
    upstream,
    upstream_model,
  };
  const model = stays
    ? undefined
    : modelEntry(entry, { id, device: options.device, values, aliases: names.aliases });
  return { entry, id, sources, model, ...names };
}

/** Why no engine here could load it; undefined: one could. */
export function missingEngine(entry: CatalogueEntry, { data }: Settings): string | undefined {
  const { name, engine = entry.entry.engine } = entry;
  const python = entry.engine !== undefined;
  const packaged = PACKAGED_ENGINES.includes(engine);
  if (
    python
      ? existsSync(join(data.dir, 'engines', engine))
      : !packaged || engineVersion(engine) !== undefined
  )
    return undefined;
  return `${name} needs ${engine}, which is not installed: ${ownName()} engines install ${engine}`;
}

function takenAliases(
  id: string,
  wanted: string | boolean,
  own: readonly string[],
  models: PlanContext['models'],
) {
  const named = typeof wanted === 'string';
  const free = wanted ? own : [];
  const names = named ? wanted.split(',').map(name => name.trim()) : free;
  const taken: Record<'moved' | 'kept', Record<string, string>> = {
    moved: {},
    kept: {},
  };
  const aliases = names.filter(alias => {
    if (models.some(model => model.id === alias)) {
      if (named)
        throw usageError(`${alias} is the id of a model, so it cannot be an alias of ${id}`);
      return false;
    }
    const holder = models.find(model => model.id !== id && model.aliases.includes(alias));
    if (!holder) return true;
    const moves = named || isStandIn(holder);
    taken[moves ? 'moved' : 'kept'][alias] = holder.id;
    return moves;
  });
  return { aliases, ...taken };
}

async function planSource(
  { from, files, package: packages }: CatalogueEntry['sources'][string],
  { settings, signal }: PlanContext,
): Promise<PlannedSource> {
  const source = parseSource(from);
  const folder = join(settings.hub.modelsDir, suggestedName(source));
  new ModelStore(settings.hub.modelsDir).folderOf(suggestedName(source));
  const manifest = await readManifest(folder);
  if (manifest && repositoryOf(parseSource(manifest.source)) !== repositoryOf(source)) {
    throw new CliError(
      `${folder} holds ${manifest.source}; remove it first: ${ownName()} models remove ${suggestedName(source)}`,
    );
  }
  const locked = manifest && source.kind === 'hub' && !/^[0-9a-f]{40}$/.test(source.revision);
  const wanted = locked ? { ...source, revision: manifest.revision } : source;
  const order = { source: wanted, folder, include: Object.keys(files), expected: files };
  const present = manifest && (await isWhole(manifest, order, signal)) ? manifest : undefined;
  return { ...order, packages, present };
}

const repositoryOf = (source: ModelSource) =>
  source.kind === 'url' ? sourceText(source) : source.repository;

/** Every file that is wanted was pulled, and is as it was then. */
async function isWhole(
  manifest: PullManifest,
  { source, folder, include }: PullRequest,
  signal: AbortSignal,
) {
  if (!manifest.complete || (source.kind !== 'url' && source.revision !== manifest.revision))
    return false;
  const pulled = (name: string) =>
    name.includes('*') || manifest.files.some(({ path }) => path === name);
  if (!include.every(pulled)) return false;
  return (await findingsOf(folder, manifest, { checksums: true, signal })).length === 0;
}
