import { ownName } from '@switchyard/engine-api/own-name.js';
import { loadConfig, startersFile } from '../../platform/config/load-config.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { type Settings } from '../../platform/config/settings.js';
import { CliError } from '../shared/cli-error.js';
import { gatewayCommand } from '../shared/command.js';
import { say, confirm, byteText } from '../shared/terminal.js';
import { editModels } from './catalogue/models-document.js';
import { HubError } from './hub/hub-error.js';
import { ModelStore, type StoredModel } from './hub/model-store.js';
import { usedPaths, usersOf } from './hub/used-paths.js';
import { reloadGateway } from './served.js';

const NOTES = `With an id, the folders that no other entry uses are deleted, too. A folder that \`models pull\` made is deleted only
when no entry uses it. A running gateway stops serving the model without a restart.`;

export const modelsRemoveCommand = gatewayCommand('remove <name>', {
  about: 'take a model out of models.yaml and delete its files',
  arg: 'id, or name of a folder, as `models list` shows it',
  examples: ['models remove whisper-small', 'models remove whisper-small --keep-files'],
  notes: NOTES,
  options: {
    '--keep-files': 'take out the entry only',
    '-y, --yes': 'do not ask for confirmation',
    '--force': 'delete a folder although models.yaml uses it',
  },
  json: true,
  async run(invocation) {
    const { arg: name, options, engines } = invocation;
    const { settings, models } = loadConfig();
    const store = new ModelStore(settings.hub.modelsDir);
    const model = models.find(({ id }) => id === name);
    const folders = model
      ? await ownFolders(model, models, store, options.keepFiles)
      : [await unusedFolder(name, models, store, options.force)];
    const what = folders.map(({ folder, bytes }) => `${folder} (${byteText(bytes)})`);
    const path = fileOf(name, settings);
    const question = model
      ? `Remove ${[`${name} from ${path}`, ...what].join(' and ')}?`
      : `Delete ${what[0]}?`;
    if (!options.yes) await confirm(question, 'nothing was removed');
    if (model) {
      const { objections: askEngine } = await engines();
      await editModels({ path, askEngine }, list => list.remove(name));
      // A gateway that cannot be asked would go on reading files that are gone.
      await reloadGateway(invocation.client);
    }
    for (const folder of folders) await store.remove(folder.name);
    if (!options.json)
      for (const text of [...(model ? [`${name} from models.yaml`] : []), ...what])
        say(`removed ${text}`);
    const others = loadConfig().models.flatMap(({ aliases }) => aliases);
    const names = model?.aliases.filter(alias => !others.includes(alias)).join(', ');
    if (names) say(`no model has these names now: ${names}`);
    const places = folders.map(({ folder, bytes }) => ({ folder, bytes }));
    return { model: model?.id, folders: places };
  },
});

/** The file that has the entry of a model. */
function fileOf(name: string, settings: Settings) {
  const { modelsFile } = settings.workers;
  const isThere = loadConfig({ modelsFile }).models.some(({ id }) => id === name);
  return isThere ? modelsFile : startersFile(settings);
}

/** Pulled folders that this model alone uses. */
async function ownFolders(
  model: ModelSpec,
  models: readonly ModelSpec[],
  store: ModelStore,
  keep = false,
): Promise<readonly StoredModel[]> {
  if (keep) return [];
  const used = new Set(usedPaths(model, store).map(({ stored }) => stored));
  return (await store.list()).filter(
    ({ name }) => used.has(name) && usersOf(name, models, store).length === 1,
  );
}

/**
 * A folder that no model uses.
 * @throws HubError when there is none; CliError when a model uses it
 */
async function unusedFolder(
  name: string,
  models: readonly ModelSpec[],
  store: ModelStore,
  force = false,
) {
  const folder = store.folderOf(name);
  const stored = await store.list();
  const found = stored.find(one => one.folder === folder);
  if (!found) {
    const folders = stored.map(one => one.name).join(', ') || 'none';
    const ids = models.map(({ id }) => id).join(', ') || 'none';
    throw new HubError(
      'not_found',
      `there is no model ${name}; in models.yaml: ${ids}; in ${store.folder} there are: ${folders}`,
    );
  }
  const users = usersOf(name, models, store);
  if (users.length === 0 || force) return found;
  const hint = `remove the model itself (${ownName()} models remove ${users[0]}), or pass --force`;
  throw new CliError(`models.yaml uses ${name} for ${users.join(', ')}: ${hint}`);
}
