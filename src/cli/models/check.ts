import { resolve } from 'node:path';
import { ownName } from '@switchyard/engine-api/own-name.js';
import { loadConfig } from '../../platform/config/load-config.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { launchDirectory } from '../../platform/config/process-environment.js';
import { command, type EngineChecks } from '../shared/command.js';
import { MARKS } from '../shared/terminal.js';
import { Catalogue } from './catalogue/catalogue.js';
import {
  findingsOf,
  ModelStore,
  type StoredModel,
  type PullManifest,
  readManifest,
} from './hub/model-store.js';
import { usedPaths } from './hub/used-paths.js';

/** Result for one model. */
interface ModelVerdict {
  readonly name: string;
  readonly ok: boolean;
  readonly problems: readonly string[];
  /** What the model needs, such as memory. */
  readonly notes: readonly string[];
}

interface CheckDepth extends Pick<EngineChecks, 'checkFiles'> {
  readonly checksums: boolean;
  readonly signal?: AbortSignal;
}

export const modelsCheckCommand = command('check [file]', {
  about:
    'models.yaml, the options of every engine, the catalogue, and the files of every pulled model',
  arg: 'models file (default: workers.models_file)',
  examples: ['models check', 'models check my-models.yaml --fast'],
  notes:
    'Exit code 2: models.yaml has errors, each with line and column. Exit code 1: files are missing or wrong.',
  options: { '--fast': 'presence and sizes only, no checksums' },
  async run({ engines, signal, arg: file, options }) {
    const { objections, checkFiles } = await engines();
    const { settings, models } = loadConfig({
      askEngine: objections,
      ...(file !== undefined && { modelsFile: resolve(launchDirectory(), file) }),
    });
    Catalogue.load(settings.hub.catalogueFile);
    const verdicts = await checkModels(models, new ModelStore(settings.hub.modelsDir), {
      checkFiles,
      checksums: !options.fast,
      signal,
    });
    return { ok: verdicts.every(({ ok }) => ok), models: verdicts };
  },
  text: ({ models }) =>
    models
      .flatMap(({ name, ok, problems, notes }) => [
        `${ok ? MARKS.ok : MARKS.fail} ${name}`,
        ...[...problems, ...notes].map(line => `    ${line}`),
      ])
      .join('\n'),
});

/**
 * The configured models by what their options name, then the folders on disk
 * by their manifests.
 */
export async function checkModels(
  models: readonly ModelSpec[],
  store: ModelStore,
  depth: CheckDepth,
): Promise<readonly ModelVerdict[]> {
  const verdicts: ModelVerdict[] = [];
  const judge = (name: string, problems: readonly string[], notes: string[] = []) =>
    verdicts.push({ name, ok: problems.length === 0, problems, notes });
  for (const model of models) {
    const missing = await pathProblems(model, store, depth);
    if (missing.length > 0) judge(model.id, missing);
    else
      try {
        const note = depth.checkFiles(model);
        judge(model.id, [], note ? [note] : []);
      } catch (error) {
        judge(model.id, [(error as Error).message]);
      }
  }
  for (const stored of await store.list())
    judge(`${stored.name} (${stored.folder})`, await folderProblems(stored, depth));
  return verdicts;
}

/**
 * Paths that are not there, and pulled folders outside the models folder; those inside
 * are listed under their own names.
 */
async function pathProblems(
  model: ModelSpec,
  store: ModelStore,
  depth: CheckDepth,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { option, path, exists, stored } of usedPaths(model, store)) {
    if (!exists) {
      const fix = `; bring it with: ${ownName()} models pull SOURCE --as ${stored}`;
      problems.push(`options.${option}: there is no ${path}${stored ? fix : ''}`);
    } else if (stored === undefined) {
      const found = await manifestProblems(path, await readManifest(path), depth);
      problems.push(...found.map(text => `${path}: ${text}`));
    }
  }
  return problems;
}

async function folderProblems(
  { name, folder, manifest }: StoredModel,
  depth: CheckDepth,
): Promise<readonly string[]> {
  const problems = await manifestProblems(folder, manifest, depth);
  if (problems.length === 0) return problems;
  const include = manifest?.include?.map(pattern => ` --include '${pattern}'`).join('');
  const again = `${ownName()} models pull ${manifest?.source} --as ${name}${include ?? ''}`;
  return [...problems, `to put it right: ${again}`];
}

/** Files that came by hand, without a manifest, have nothing to be compared with. */
async function manifestProblems(
  folder: string,
  manifest: PullManifest | undefined,
  depth: CheckDepth,
): Promise<readonly string[]> {
  if (!manifest) return [];
  const found = await findingsOf(folder, manifest, depth);
  const problems = found.map(({ path, problem }) => `${path} ${problem}`);
  return manifest.complete ? problems : ['the pull did not end', ...problems];
}
