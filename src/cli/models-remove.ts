import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { loadConfig } from '../platform/config/load-config.js';
import { byteText } from './hub/disk-space.js';
import { ModelStore } from './hub/model-store.js';
import { HubError } from './hub/hub-error.js';
import { CliError, EXIT } from './cli-error.js';
import { usersOf } from './used-paths.js';
import { say } from './terminal.js';

interface RemoveOptions {
  readonly yes?: boolean;
  readonly force?: boolean;
}

export const modelsRemoveCommand = (): Command =>
  new Command('remove')
    .description('delete the files of a pulled model')
    .argument('<name>', 'name of the folder, as `models list` shows it')
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--force', 'remove it although models.yaml uses it')
    .action(async (name: string, { yes, force }: RemoveOptions) => {
      const { settings, models } = loadConfig();
      const shelf = new ModelStore(settings.hub.modelsDir);
      const { folder, bytes } = await found(shelf, name);
      const users = usersOf(name, models, shelf);
      if (users.length > 0 && !force) {
        const file = settings.workers.modelsFile;
        throw new CliError(`${file} uses ${name} for ${users.join(', ')}: change it there first, or pass --force`);
      }
      if (!yes) await ask(`Delete ${folder} (${byteText(bytes)})?`);
      await shelf.remove(name);
      say(`removed ${folder} (${byteText(bytes)})`);
    });

async function found(shelf: ModelStore, name: string) {
  const folder = shelf.folderOf(name);
  const models = await shelf.list();
  const model = models.find(one => one.folder === folder);
  if (model) return model;
  const names = models.map(one => one.name).join(', ') || 'none';
  throw new HubError('not_found', `there is no model ${name} in ${shelf.folder}; there are: ${names}`);
}

async function ask(question: string): Promise<void> {
  if (!process.stdin.isTTY) throw new CliError('not a terminal; pass --yes', EXIT.usage);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('nothing was removed');
  } finally {
    terminal.close();
  }
}
