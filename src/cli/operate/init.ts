import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ownName } from '@switchyard/engine-api/own-name.js';
import { environmentOf, launchDirectory } from '../../platform/config/process-environment.js';
import { engineVersion } from '../models/engines/engine-packages.js';
import { usageError } from '../shared/cli-error.js';
import { command } from '../shared/command.js';
import { runProgram } from '../shared/run-command.js';
import { MARKS, print, printJson, say, ask } from '../shared/terminal.js';

const FILES: Readonly<Record<string, string>> = {
  'switchyard.yaml': `# Settings of this gateway; a line left out has its default. Relative paths start at this folder.
# Every setting: switchyard config show --all

server:
  # 0.0.0.0 listens beyond this machine; the first start then creates an admin key and prints it once.
  host: 127.0.0.1
  port: 8000

data:
  dir: data

hub:
  models_dir: models

workers:
  models_file: models.yaml
`,
  'models.yaml': `# Models that this gateway serves. \`switchyard models search\` lists what can be added,
# \`switchyard models add NAME\` downloads one and writes its entry here.

models: []
`,
};

const STARTER =
  'Fetch the starter set now: Moonshine, a voice, Whisper base and SmolLM2 135M, 0.9 GB with a Python environment?';

export const initCommand = command('init [folder]', {
  about: 'write switchyard.yaml and models.yaml into a folder; nothing is overwritten',
  arg: ['where; created if needed', undefined, '.'],
  examples: ['init', 'init my-gateway'],
  notes:
    'In a folder with a switchyard.yaml, every command uses it; SWITCHYARD_CONFIG names another file.',
  json: 'the files as one JSON document',
  async run({ arg: folder, options }) {
    const target = resolve(launchDirectory(), folder);
    const files = write(target);
    const enter = target === launchDirectory() ? [] : [`  cd ${folder}`];
    if (options.json) printJson({ files });
    else print(files.join('\n'));
    const fetches = process.stdin.isTTY && !options.json && (await ask(STARTER));
    const fetched = fetches ? await fetchStarters(target) : 1;
    const models = fetched === 0 ? [] : firstModelSteps();
    const next = [...enter, ...models, `  ${ownName()} up`];
    say([`${MARKS.ok} Next:`, ...next].join('\n'));
  },
});

/** Runs the command in that folder. @returns its exit code */
function fetchStarters(cwd: string) {
  const env = environmentOf(cwd, 'switchyard.yaml');
  return runProgram('dist/main.cli.js', ['models', 'starter', '--yes'], { cwd, env });
}

/** @throws CliError exit code 2 where one of the files is there already */
function write(target: string): readonly string[] {
  const files = Object.keys(FILES).map(name => join(target, name));
  const present = files.find(existsSync);
  if (present !== undefined)
    throw usageError(`${present} exists; nothing was written. Name another folder`);
  mkdirSync(target, { recursive: true });
  for (const [name, text] of Object.entries(FILES))
    writeFileSync(join(target, name), text, { flag: 'wx' });
  return files;
}

/**
 * Run on every machine, with packages from npm alone. On Linux the starter set, which needs
 * Python and Debian's packages, is offered before the first of them.
 */
const FIRST = [
  { engine: 'sherpa-onnx', model: 'moonshine-base-en', what: 'recognition' },
  { engine: 'sherpa-onnx', model: 'kokoro-en', what: 'voices' },
  { engine: 'llama-cpp', model: 'smollm2-135m-instruct', what: 'chat' },
] as const;

/** What to type where no model is configured yet, up to the first one. */
export function firstModelSteps(
  platform: NodeJS.Platform = process.platform,
  isInstalled = (engine: string) => engineVersion(engine) !== undefined,
): readonly string[] {
  const offered = platform === 'linux' ? FIRST.slice(0, 1) : FIRST;
  const engines = [...new Set(offered.map(({ engine }) => engine))].filter(e => !isInstalled(e));
  const steps = [
    ...engines.map(engine => [`engines install ${engine}`]),
    ...offered.map(({ model, what }) => [`models add ${model}`, what]),
  ];
  const starter = ['models starter', 'Whisper base, SmolLM2 135M and a voice; or one model:'];
  const all = [...(platform === 'linux' ? [starter] : []), ...steps, ['models search', 'others']];
  return all.map(([step = '', what]) => {
    const typed = `  ${ownName()} ${step}`;
    return what === undefined ? typed : `${typed.padEnd(50)} # ${what}`;
  });
}
