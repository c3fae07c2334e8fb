import { ownName } from '@switchyard/engine-api/own-name.js';
import { loadConfig } from '../../../platform/config/load-config.js';
import { usageError } from '../../shared/cli-error.js';
import { command, commandGroup, type OptionValues } from '../../shared/command.js';
import { table, MARKS, ProgressLine, say } from '../../shared/terminal.js';
import { engineVersion, installEnginePackages, PACKAGED_ENGINES } from './engine-packages.js';
import { ENGINE_TABLE } from './engine-table.js';
import { buildLlamaKernels, isCompiledHere, removeLlamaKernels } from './llama-kernels.js';
import { PythonEnvironment } from './python-environment.js';

const INSTALL_OPTIONS = {
  '--cuda': 'ctranslate2: with the CUDA libraries that it loads (1 GB more)',
  '--python <command>': 'ctranslate2: the Python to use',
  '--native': 'llama-cpp: compile it for this CPU',
  '--prebuilt': 'llama-cpp: restore the kernels of the npm package',
} as const;

const INSTALL_HELP = `ctranslate2  Whisper, a worker in Python: 0.5 GB in data.dir/engines, from wheels only. pip's own settings apply
             (PIP_NO_INDEX, PIP_FIND_LINKS, PIP_INDEX_URL, …).
sherpa-onnx, llama-cpp
             npm packages, 45 MB and 115 MB, beside the gateway's package. A clone has them already.
llama-cpp    --native compiles it for this machine's CPU, offline: 3 minutes on two cores, 55 MB. The prebuilt kernels
             reach 0.65 to 0.8 of the compiled ones with several requests.

Everything has the versions of this release. Install again after an upgrade, and after npm ci what --native compiled.

Exit code 1: something is missing; the message names the repair. Exit code 3: the package index cannot be reached.`;

const list = command('list', {
  about: 'every engine: version, what it serves, devices',
  examples: ['engines list', "engines list --json | jq -r '.engines[].engine'"],
  run: () => Promise.resolve({ engines: listedEngines(environment()) }),
  text: ({ engines }) =>
    table(
      ['engine', 'version', 'devices', 'serves'],
      engines,
      ({ engine, installed, version, kinds, capabilities, devices }) => [
        engine,
        installed ? version : 'not installed',
        devices.join(' ') || 'elsewhere',
        [kinds.join(' '), capabilities.join(' ')].filter(Boolean).join(': '),
      ],
    ),
});

const install = command('install <engine>', {
  about: 'install what an engine needs beside the npm packages',
  arg: ['the engine', ['ctranslate2', ...PACKAGED_ENGINES]],
  examples: ['engines install ctranslate2', 'engines install llama-cpp --native'],
  notes: INSTALL_HELP,
  options: INSTALL_OPTIONS,
  json: 'the engine as `engines list --json` shows it, as one JSON document',
  async run({ arg: engine, options, signal }) {
    await (engine === 'ctranslate2'
      ? installPython(options, signal)
      : installPackages(engine, options, signal));
    if (!options.json) return undefined;
    return listedEngines(environment()).find(each => each.engine === engine);
  },
});

export const enginesCommand = commandGroup('engines', 'engines: list, install', [list, install]);

const WORKER =
  "-m, switchyard_worker.ctranslate2, --path, FOLDER, --model, '{model}', --listen, '{host}:{port}'";

const environment = () => new PythonEnvironment(loadConfig().settings.data.dir);

function listedEngines(python: PythonEnvironment) {
  const isCompiled = isCompiledHere();
  return Object.entries(ENGINE_TABLE).map(([engine, { kinds, capabilities, devices }]) => {
    const version = versionOf(engine, python);
    const kernels =
      version !== undefined && engine === 'llama-cpp' && isCompiled
        ? ', compiled for this CPU'
        : '';
    return {
      engine,
      kinds,
      capabilities,
      devices: Object.keys(devices),
      installed: version !== undefined,
      version: `${version ?? ''}${kernels}`,
    };
  });
}

/** Undefined when it is not installed. */
function versionOf(engine: string, python: PythonEnvironment): string | undefined {
  if (ENGINE_TABLE[engine]?.npm) return engineVersion(engine);
  return engine === 'ctranslate2' ? pythonVersion(python) : 'built in';
}

function pythonVersion(python: PythonEnvironment): string | undefined {
  const { state, manifest } = python.state();
  if (state === 'absent' || state === 'damaged') return undefined;
  const { ctranslate2, python: of } = manifest!.versions;
  const hint = state === 'outdated' ? ', install again for the versions of this release' : '';
  return `${ctranslate2}, Python ${of}${hint}`;
}

async function installPackages(
  engine: string,
  { native, prebuilt }: OptionValues<typeof INSTALL_OPTIONS>,
  signal: AbortSignal,
) {
  if ((native ?? prebuilt) !== undefined && engine !== 'llama-cpp')
    throw usageError('--native and --prebuilt are for llama-cpp');
  if (native && prebuilt) throw usageError('give --native or --prebuilt, not both');
  const work = { signal, report: (text: string) => say(`${MARKS.ok} ${text}`) };
  await installEnginePackages(engine, work);
  if (native) await buildLlamaKernels(work);
  if (prebuilt) await removeLlamaKernels(work);
}

async function installPython(
  { cuda = false, python }: OptionValues<typeof INSTALL_OPTIONS>,
  signal: AbortSignal,
) {
  const place = environment();
  using progress = new ProgressLine();
  const report = (text: string) => progress.show(text.slice(0, process.stderr.columns ?? 120));
  const { manifest } = await place.install({ cuda, report, signal, python });
  progress.clear();
  const { ctranslate2, python: of } = manifest!.versions;
  say(`${MARKS.ok} ctranslate2 ${ctranslate2} for Python ${of} is in ${place.folder}`);
  say(`  next: ${ownName()} models add whisper-small`);
  say(
    `  a model of your own, in models.yaml: engine: external, and command: [${place.python}, ${WORKER}]`,
  );
}
