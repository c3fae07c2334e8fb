import { Command } from 'commander';
import { ownName } from '../platform/config/process-environment.js';
import { loadConfig } from '../platform/config/load-config.js';
import { type ModelSpec } from '../platform/config/model-spec.js';
import { type EngineChecks } from './shared/engine-checks.js';
import { editModels } from './catalogue/models-document.js';
import { CliError } from './shared/cli-error.js';
import { confirm } from './shared/confirm.js';
import {
  type GatewayClientOptions,
  withGatewayOptions,
} from './shared/gateway-client.js';
import { byteText } from './hub/disk-space.js';
import { HubError } from './hub/hub-error.js';
import { ModelStore, type StoredModel } from './hub/model-store.js';
import { reloadGateway } from './models-served.js';
import { examples } from './shared/examples.js';
import { printJson, say } from './shared/terminal.js';
import { usedPaths, usersOf } from './shared/used-paths.js';

interface RemoveOptions extends GatewayClientOptions {
  readonly keepFiles?: boolean;
  readonly yes?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

const HELP = `
NAME is an id of models.yaml: its entry goes, and with it the folders that no other entry uses. Or it is a folder that
\`models pull\` made: it goes when no entry uses it. A running gateway stops serving the model without a restart.`;

export const modelsRemoveCommand = ({ objections }: EngineChecks): Command =>
  withGatewayOptions(new Command('remove'))
    .description('take a model out of models.yaml and delete its files')
    .argument('<name>', 'id, or name of a folder, as `models list` shows it')
    .option('--keep-files', 'take out the entry only')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--force', 'delete a folder although models.yaml uses it')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      examples(
        ['models remove whisper-small', 'models remove whisper-small --keep-files'],
        HELP.trim(),
      ),
    )
    .action(async (name: string, options: RemoveOptions) => {
      const { settings, models } = loadConfig();
      const shelf = new ModelStore(settings.hub.modelsDir);
      const model = models.find(({ id }) => id === name);
      if (!model)
        return removeFolder(await found(shelf, name, models), { shelf, models, options });
      const folders = options.keepFiles ? [] : await ownFolders(model, models, shelf);
      const what = folders
        .map(({ folder, bytes }) => ` and ${folder} (${byteText(bytes)})`)
        .join('');
      if (!options.yes)
        await confirm(
          `Remove ${name} from ${settings.workers.modelsFile}${what}?`,
          NOTHING,
        );
      await editModels(
        { path: settings.workers.modelsFile, askEngine: objections },
        list => list.remove(name),
      );
      // A gateway that cannot be asked would go on reading files that are gone.
      await reloadGateway(options);
      for (const folder of folders) await shelf.remove(folder.name);
      report(options, { model: name, folders });
      if (model.aliases.length > 0)
        say(`no model has these names now: ${model.aliases.join(', ')}`);
    });

const NOTHING = 'nothing was removed';

async function removeFolder(
  stored: StoredModel,
  {
    shelf,
    models,
    options,
  }: { shelf: ModelStore; models: readonly ModelSpec[]; options: RemoveOptions },
): Promise<void> {
  const users = usersOf(stored.name, models, shelf);
  if (users.length > 0 && !options.force) {
    const [id] = users;
    const hint = `remove the model itself (${ownName()} models remove ${id}), or pass --force`;
    throw new CliError(
      `models.yaml uses ${stored.name} for ${users.join(', ')}: ${hint}`,
    );
  }
  if (!options.yes)
    await confirm(`Delete ${stored.folder} (${byteText(stored.bytes)})?`, NOTHING);
  await shelf.remove(stored.name);
  report(options, { folders: [stored] });
}

function report(
  options: RemoveOptions,
  { model, folders }: { model?: string; folders: readonly StoredModel[] },
): void {
  if (options.json)
    return printJson({
      model,
      folders: folders.map(({ folder, bytes }) => ({ folder, bytes })),
    });
  if (model !== undefined) say(`removed ${model} from models.yaml`);
  for (const { folder, bytes } of folders) say(`removed ${folder} (${byteText(bytes)})`);
}

/** Pulled folders that this model alone uses. */
async function ownFolders(
  model: ModelSpec,
  models: readonly ModelSpec[],
  shelf: ModelStore,
) {
  const used = new Set(usedPaths(model, shelf).map(({ shelved }) => shelved));
  const stored = await shelf.list();
  return stored.filter(
    ({ name }) => used.has(name) && usersOf(name, models, shelf).length === 1,
  );
}

async function found(
  shelf: ModelStore,
  name: string,
  models: readonly ModelSpec[],
): Promise<StoredModel> {
  const folder = shelf.folderOf(name);
  const stored = await shelf.list();
  const one = stored.find(candidate => candidate.folder === folder);
  if (one) return one;
  const folders = stored.map(candidate => candidate.name).join(', ') || 'none';
  const ids = models.map(({ id }) => id).join(', ') || 'none';
  throw new HubError(
    'not_found',
    `there is no model ${name}; in models.yaml: ${ids}; in ${shelf.folder} there are: ${folders}`,
  );
}
