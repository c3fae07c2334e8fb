import { Argument, Command } from 'commander';
import { ownName } from '../platform/config/process-environment.js';
import { loadConfig } from '../platform/config/load-config.js';
import { ENGINE_TABLE } from './engines/engine-table.js';
import { CliError, EXIT, interruptible } from './shared/cli-error.js';
import { examples } from './shared/examples.js';
import { EMBEDDED_LIBRARIES } from './doctor-checks.js';
import {
  engineVersion,
  installEnginePackages,
  PACKAGED_ENGINES,
} from './engines/engine-packages.js';
import {
  buildLlamaKernels,
  llamaKernels,
  removeLlamaKernels,
} from './engines/llama-kernels.js';
import { PythonEnvironment } from './engines/python-environment.js';
import {
  columns,
  MARKS,
  print,
  printJson,
  ProgressLine,
  say,
} from './shared/terminal.js';

interface ListedEngine {
  readonly engine: string;
  readonly installed: boolean;
  readonly version: string;
  readonly kinds: readonly string[];
  readonly capabilities: readonly string[];
  readonly devices: readonly string[];
}

interface InstallOptions {
  readonly cuda?: boolean;
  readonly python?: string;
  readonly native?: boolean;
  readonly prebuilt?: boolean;
  readonly json?: boolean;
}

const INSTALL_HELP = `
ctranslate2  Whisper through CTranslate2, a worker in Python: 0.5 GB in data.dir/engines, from wheels only. Installing
             again changes nothing, or brings the versions of this release. pip's own settings apply (PIP_NO_INDEX,
             PIP_FIND_LINKS, PIP_INDEX_URL, …).
sherpa-onnx, llama-cpp
             The npm packages of the engine, at the versions of this release: 45 MB, 115 MB, beside the gateway's
             package. An upgrade of that removes them: install again. A clone has them already.
llama-cpp    --native compiles llama.cpp for this machine's CPU, offline: 3 minutes on two cores, 55 MB. Run it again
             after npm ci. The prebuilt kernels reach 0.65 to 0.8 of the compiled ones with several requests.

Exit code 1: something is missing; the message names the repair. Exit code 3: the package index cannot be reached.`;

export const enginesCommand = (): Command =>
  new Command('engines')
    .description('engines: list, install')
    .addCommand(
      new Command('list')
        .description('every engine: version, what it serves, devices')
        .option('--json', 'one JSON document')
        .addHelpText(
          'after',
          examples(['engines list', "engines list --json | jq -r '.engines[].engine'"]),
        )
        .action(async ({ json }: { json?: boolean }) => {
          const engines = await listedEngines(environment());
          if (json) printJson({ engines });
          else print(table(engines));
        }),
    )
    .addCommand(
      new Command('install')
        .description('install what an engine needs beside the npm packages')
        .addArgument(
          new Argument('<engine>', 'the engine').choices([
            'ctranslate2',
            ...PACKAGED_ENGINES,
          ]),
        )
        .option(
          '--cuda',
          'ctranslate2: with the CUDA libraries that it loads (1 GB more)',
        )
        .option('--python <command>', 'ctranslate2: the Python to use')
        .option('--native', 'llama-cpp: compile it for this CPU')
        .option('--prebuilt', 'llama-cpp: restore the kernels of the npm package')
        .option(
          '--json',
          'the engine as `engines list --json` shows it, as one JSON document',
        )
        .addHelpText(
          'after',
          examples(
            ['engines install ctranslate2', 'engines install llama-cpp --native'],
            INSTALL_HELP.trim(),
          ),
        )
        .action((engine: string, options: InstallOptions) =>
          interruptible(async signal => {
            await (engine === 'ctranslate2'
              ? installPython(options, signal)
              : installPackages(engine, options, signal));
            if (options.json)
              printJson(
                (await listedEngines(environment())).find(each => each.engine === engine),
              );
          }),
        ),
    );

const WORKER =
  "-m, switchyard_worker.ctranslate2, --path, FOLDER, --model, '{model}', --listen, '{host}:{port}'";

const environment = (): PythonEnvironment =>
  new PythonEnvironment(loadConfig().settings.data.dir);

async function listedEngines(
  python: PythonEnvironment,
): Promise<readonly ListedEngine[]> {
  const versions: Readonly<Record<string, string | undefined>> = {
    ctranslate2: pythonVersion(python),
    ...Object.fromEntries(
      Object.entries(EMBEDDED_LIBRARIES).map(([name, { load }]) => [name, attempt(load)]),
    ),
  };
  const kernels =
    (await llamaKernels()) === 'localBuild' ? ', compiled for this CPU' : '';
  return Object.entries(ENGINE_TABLE).map(
    ([engine, { npm, kinds, capabilities, devices }]) => {
      const version =
        npm !== undefined
          ? engineVersion(engine)
          : engine in versions
            ? versions[engine]
            : 'built in';
      return {
        ...{
          engine,
          kinds,
          capabilities,
          devices: Object.keys(devices),
          installed: version !== undefined,
        },
        version:
          version === undefined
            ? ''
            : `${version}${engine === 'llama-cpp' ? kernels : ''}`,
      };
    },
  );
}

function pythonVersion(python: PythonEnvironment): string | undefined {
  const { state, manifest } = python.state();
  if (state === 'absent' || state === 'damaged') return undefined;
  const { ctranslate2, python: of } = manifest!.versions;
  const hint =
    state === 'outdated' ? ', install again for the versions of this release' : '';
  return `${ctranslate2}, Python ${of}${hint}`;
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function table(engines: readonly ListedEngine[]): string {
  const rows = engines.map(
    ({ engine, installed, version, kinds, capabilities, devices }) => [
      ...[
        engine,
        installed ? version : 'not installed',
        devices.join(' ') || 'elsewhere',
      ],
      `${kinds.join(' ')}${capabilities.length > 0 ? `: ${capabilities.join(' ')}` : ''}`,
    ],
  );
  return columns([['engine', 'version', 'devices', 'serves'], ...rows]);
}

async function installPackages(
  engine: string,
  { native, prebuilt }: InstallOptions,
  signal: AbortSignal,
): Promise<void> {
  if ((native ?? prebuilt) !== undefined && engine !== 'llama-cpp')
    throw new CliError('--native and --prebuilt are for llama-cpp', EXIT.usage);
  if (native && prebuilt)
    throw new CliError('give --native or --prebuilt, not both', EXIT.usage);
  const work = { signal, report: (text: string) => say(`${MARKS.ok} ${text}`) };
  await installEnginePackages(engine, work);
  if (native) await buildLlamaKernels(work);
  if (prebuilt) await removeLlamaKernels(work);
}

async function installPython(
  { cuda = false, python }: InstallOptions,
  signal: AbortSignal,
): Promise<void> {
  const place = environment();
  const progress = new ProgressLine();
  try {
    const report = (text: string) =>
      progress.show(text.slice(0, process.stderr.columns ?? 120));
    const { manifest } = await place.install({ cuda, report, signal, python });
    progress.clear();
    const { ctranslate2, python: of } = manifest!.versions;
    say(`${MARKS.ok} ctranslate2 ${ctranslate2} for Python ${of} is in ${place.folder}`);
    say(`  next: ${ownName()} models add whisper-small`);
    say(
      `  a model of your own, in models.yaml: engine: external, and command: [${place.python}, ${WORKER}]`,
    );
  } finally {
    progress.clear();
  }
}
