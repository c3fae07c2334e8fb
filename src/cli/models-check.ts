import { resolve } from 'node:path';
import { Command } from 'commander';
import { launchDirectory, ownName } from '../platform/config/process-environment.js';
import { loadConfig } from '../platform/config/load-config.js';
import { type ModelSpec } from '../platform/config/model-spec.js';
import { type EngineChecks } from './shared/engine-checks.js';
import { EXIT, interruptible } from './shared/cli-error.js';
import { Catalogue } from './catalogue/catalogue.js';
import { type PullManifest, readManifest } from './hub/model-folder.js';
import { findingsOf, ModelStore, type StoredModel } from './hub/model-store.js';
import { examples } from './shared/examples.js';
import { MARKS, print, printJson } from './shared/terminal.js';
import { usedPaths } from './shared/used-paths.js';

/** Result for one model. */
export interface ModelVerdict {
  readonly name: string;
  readonly ok: boolean;
  readonly problems: readonly string[];
  /** What it takes, such as memory. */
  readonly notes: readonly string[];
}

interface CheckOptions {
  readonly fast?: boolean;
  readonly json?: boolean;
}

export const modelsCheckCommand = (engines: EngineChecks): Command =>
  new Command('check')
    .description(
      'models.yaml, the options of every engine, the catalogue, and the files of every pulled model',
    )
    .argument('[file]', 'models file (default: workers.models_file)')
    .option('--fast', 'presence and sizes only, no checksums')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      examples(
        ['models check', 'models check my-models.yaml --fast'],
        'Exit code 2: models.yaml has errors, each with line and column. Exit code 1: files are missing or wrong.',
      ),
    )
    .action((file: string | undefined, options: CheckOptions) =>
      interruptible(async signal => {
        const { settings, models } = loadConfig({
          askEngine: engines.objections,
          ...(file !== undefined && { modelsFile: resolve(launchDirectory(), file) }),
        });
        Catalogue.load(settings.hub.catalogueFile);
        const shelf = new ModelStore(settings.hub.modelsDir);
        const verdicts = await checkModels(models, shelf, {
          ...engines,
          checksums: !options.fast,
          signal,
        });
        if (options.json)
          printJson({ ok: verdicts.every(({ ok }) => ok), models: verdicts });
        else print(verdicts.map(text).join('\n'));
        if (verdicts.some(({ ok }) => !ok)) process.exitCode = EXIT.failed;
      }),
    );

/**
 * The configured models by what their options name, then the folders on disk
 * by their manifests.
 */
export async function checkModels(
  models: readonly ModelSpec[],
  shelf: ModelStore,
  options: CheckDepth,
): Promise<readonly ModelVerdict[]> {
  const verdicts: ModelVerdict[] = [];
  for (const model of models) {
    const missing = await pathProblems(model, shelf, options);
    const { problems, notes } =
      missing.length > 0
        ? { problems: missing, notes: [] }
        : engineFindings(model, options);
    verdicts.push(verdict(model.id, problems, notes));
  }
  for (const shelved of await shelf.list()) {
    verdicts.push(
      verdict(
        `${shelved.name} (${shelved.folder})`,
        await folderProblems(shelved, options),
      ),
    );
  }
  return verdicts;
}

const verdict = (
  name: string,
  problems: readonly string[],
  notes: readonly string[] = [],
): ModelVerdict => ({
  name,
  problems,
  notes,
  ok: problems.length === 0,
});

/**
 * What the engine finds in the files; those of a model that only runs elsewhere
 * are not here.
 */
function engineFindings(
  model: ModelSpec,
  { checkFiles }: CheckDepth,
): Pick<ModelVerdict, 'problems' | 'notes'> {
  try {
    const note = checkFiles(model);
    return { problems: [], notes: note ? [note] : [] };
  } catch (error) {
    return { problems: [(error as Error).message], notes: [] };
  }
}

type CheckDepth = Pick<EngineChecks, 'checkFiles'> & {
  readonly checksums: boolean;
  readonly signal?: AbortSignal;
};

/**
 * Paths that are not there, and pulled folders outside the models folder; those inside
 * are listed under their own names.
 */
async function pathProblems(
  model: ModelSpec,
  shelf: ModelStore,
  depth: CheckDepth,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { option, path, exists, shelved } of usedPaths(model, shelf)) {
    const fix =
      shelved === undefined
        ? ''
        : `; bring it with: ${ownName()} models pull SOURCE --as ${shelved}`;
    if (!exists) problems.push(`options.${option}: there is no ${path}${fix}`);
    const manifest =
      exists && shelved === undefined ? await readManifest(path) : undefined;
    if (manifest)
      problems.push(
        ...(await manifestProblems(path, manifest, depth)).map(
          text => `${path}: ${text}`,
        ),
      );
  }
  return problems;
}

async function folderProblems(
  { name, folder, manifest }: StoredModel,
  depth: CheckDepth,
): Promise<readonly string[]> {
  // Files that came by hand have nothing to be compared with.
  if (!manifest) return [];
  const problems = await manifestProblems(folder, manifest, depth);
  const include = (manifest.include ?? [])
    .map(pattern => ` --include '${pattern}'`)
    .join('');
  const again = `${ownName()} models pull ${manifest.source} --as ${name}${include}`;
  return problems.length > 0 ? [...problems, `to put it right: ${again}`] : [];
}

async function manifestProblems(
  folder: string,
  manifest: PullManifest,
  depth: CheckDepth,
): Promise<readonly string[]> {
  const found = await findingsOf(folder, manifest, depth);
  const problems = found.map(({ path, problem }) => `${path} ${problem}`);
  return manifest.complete ? problems : ['the pull did not end', ...problems];
}

const text = ({ name, ok, problems, notes }: ModelVerdict): string =>
  [
    `${ok ? MARKS.ok : MARKS.fail} ${name}`,
    ...[...problems, ...notes].map(problem => `    ${problem}`),
  ].join('\n');
