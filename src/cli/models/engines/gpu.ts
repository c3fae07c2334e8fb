import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { delimiter, basename, dirname, join } from 'node:path';
import { ownName } from '@switchyard/engine-api/own-name.js';
import {
  extraFolder,
  gpuPackage,
  LLAMA_PACKAGE,
  type LlamaDevice,
  llamaFolders,
  probeProgram,
} from '@switchyard/engine-llama-cpp/binaries.js';
import { loadConfig } from '../../../platform/config/load-config.js';
import { toolEnvironment } from '../../../platform/config/process-environment.js';
import { CliError } from '../../shared/cli-error.js';
import { command, commandGroup } from '../../shared/command.js';
import { diagnosesText, type Diagnosis, failing, passing } from '../../shared/diagnosis.js';
import {
  lastLines,
  runCommand,
  type RunCommand,
  type Installing,
} from '../../shared/run-command.js';
import { say } from '../../shared/terminal.js';
import { engineModules, installedVersion, withPackage } from './engine-packages.js';
import { PythonEnvironment } from './python-environment.js';

/** The parts that can be installed, with the measured download in MB. */
const GPU_PARTS = {
  'llama-cpp': { megabytes: 250, packages: ['linux-x64-cuda', 'linux-x64-cuda-ext'] },
  'llama-cpp-vulkan': { megabytes: 50, packages: ['linux-x64-vulkan'] },
} as const;

type GpuPart = keyof typeof GPU_PARTS;

/**
 * Puts the GPU builds of llama.cpp where its engine looks for them. They are no packages of
 * the lockfile: 0.6 GB that few machines need. `npm ci` removes them.
 */
export async function installGpu(
  part: GpuPart,
  options: Installing & {
    /** Path of `node_modules`. */
    readonly modules?: string;
    readonly dryRun: boolean;
  },
): Promise<void> {
  if (`${process.platform}-${process.arch}` !== 'linux-x64')
    throw new CliError(
      `GPU packages exist for linux-x64; this machine is ${process.platform}-${process.arch}`,
    );
  for (const name of GPU_PARTS[part].packages) await installPackage(name, options);
}

/** npm verifies the download and installs it in a folder of its own. */
async function installPackage(name: string, options: Parameters<typeof installGpu>[1]) {
  const { modules = engineModules(), report, dryRun } = options;
  const version = installedVersion(LLAMA_PACKAGE, modules);
  if (version === undefined)
    throw new CliError(`${LLAMA_PACKAGE} is not installed: ${ownName()} engines install llama-cpp`);
  const own = gpuPackage(name);
  const target = extraFolder(modules, name);
  if (installedVersion('.', target) === version) return report(`${own} ${version} is in ${target}`);
  report(`${own}@${version} by npm, into ${target}`);
  if (dryRun) return;
  await withPackage(`${own}@${version}`, options, async made => {
    if (!existsSync(join(made, 'bins'))) throw new CliError(`npm brought no binaries of ${own}`);
    await rm(target, { recursive: true, force: true });
    await mkdir(dirname(target), { recursive: true });
    await rename(made, target);
  });
  report(`${own} ${version} installed`);
}

/** Libraries by the version in their file names, such as `libcudart.so.13`. */
const FAMILIES = [
  { what: 'CUDA', pattern: /\blib(?:cudart|cublas)\.so\.\d+/g },
  { what: 'cuDNN', pattern: /\blibcudnn\.so\.\d+/g },
];

/** Major version of CUDA in the packages and in the image target `cuda`. */
export const CUDA_OF_PACKAGES = '13';

const IMAGE = 'or use the image target cuda';

const cudaFix = (version: string) =>
  `apt-get install -y cuda-libraries-${version}-0 libcudnn9-cuda-${version}, from NVIDIA's repository, ${IMAGE}`;

const DEVICES = `
import ctranslate2, json
print(json.dumps({"devices": ctranslate2.get_cuda_device_count()}))
`;

const LLAMA_DEVICES: readonly LlamaDevice[] = ['cpu', 'cuda', 'vulkan'];

/** @returns whether the libraries of llama.cpp for a device load and find the device */
type Probe = (device: LlamaDevice) => Promise<boolean>;

/**
 * What `switchyard gpu check` reads on this machine. Every reading is made the way an
 * engine would: by loading the libraries in a process of its own.
 * @returns `ok`: everything that is named works on the GPU of this machine
 */
export async function checkGpu({
  run = runCommand,
  modules = engineModules(),
  libraryFolders = ownLibraryFolders(),
  python = new PythonEnvironment(loadConfig().settings.data.dir),
  probe = async device => (await run(process.execPath, [probeProgram(), device])).code === 0,
}: {
  readonly run?: RunCommand;
  readonly modules?: string;
  /** Folders of LD_LIBRARY_PATH. */
  readonly libraryFolders?: readonly string[];
  readonly python?: PythonEnvironment;
  readonly probe?: Probe;
} = {}) {
  const { code, output } = await run('nvidia-smi', NVIDIA_QUERY);
  const gpus = code === 0 ? output.split('\n').filter(line => line.trim() !== '') : [];
  const cached = await run('/bin/sh', ['-c', 'PATH="$PATH:/sbin" ldconfig -p']);
  const folders = await Promise.all(libraryFolders.map(folder => readdir(folder).catch(() => [])));
  const libraries = [cached.output, ...folders.flat()].join('\n');
  const checks = [
    driver(gpus, output),
    ...FAMILIES.map(({ what, pattern }) =>
      library(what, [...new Set(libraries.match(pattern) ?? [])].sort()),
    ),
    await llamaCpp(run, modules, probe),
    ...(await ctranslate2(run, python)),
  ];
  return { ok: checks.every(({ state }) => state !== 'fail'), gpus, checks };
}

const ownLibraryFolders = () =>
  (toolEnvironment({}).LD_LIBRARY_PATH ?? '').split(delimiter).filter(Boolean);

const NVIDIA_QUERY = ['--query-gpu=name,driver_version,memory.total', '--format=csv,noheader'];

const library = (what: string, found: readonly string[]) =>
  found.length > 0
    ? passing(what, `found: ${found.join(', ')}`)
    : failing(what, 'no library found', cudaFix(CUDA_OF_PACKAGES));

function driver(gpus: readonly string[], output: string) {
  const what = 'NVIDIA driver';
  if (gpus.length > 0) return passing(what, gpus.join('; '));
  const detail = `this machine has no usable NVIDIA GPU: nvidia-smi says ${lastLines(output, 1)}`;
  const fix =
    "install NVIDIA's driver: 580 or newer for CUDA 13, 525 for CUDA 12; " +
    'a container needs the NVIDIA container toolkit and --gpus all';
  return failing(what, detail, fix);
}

/**
 * What a native file is linked with and the loader does not find; undefined if
 * nothing is missing.
 */
async function unlinkedIn(
  run: RunCommand,
  what: string,
  file: string,
): Promise<Diagnosis | undefined> {
  const { output } = await run('ldd', [file]);
  const missing = [...output.matchAll(/^\s*(\S+) => not found$/gm)].map(([, name = '']) => name);
  if (missing.length === 0) return undefined;
  const version = missing
    .map(name => /^lib(?:cudart|cublas)\.so\.(\d+)$/.exec(name)?.[1])
    .find(Boolean);
  const fix = version === undefined ? DRIVER : cudaFix(version);
  const detail = `installed, but ${basename(file)} lacks ${missing.join(', ')}`;
  return failing(what, detail, fix);
}

const DRIVER = "install NVIDIA's driver";

async function llamaCpp(run: RunCommand, modules: string, probe: Probe) {
  const what = 'llama.cpp';
  const there = LLAMA_DEVICES.filter(device => llamaFolders(modules, device).length > 0);
  const loading: string[] = [];
  for (const device of there) if (await probe(device)) loading.push(device);
  if (loading.length === 0) {
    const fix = 'switchyard engines install llama-cpp';
    return failing(what, 'its libraries do not load', fix);
  }
  const detail = `back ends that load: ${loading.join(', ')}`;
  if (loading.includes('cuda')) return passing(what, detail);
  const [bins] = llamaFolders(modules, 'cuda');
  const without = `${detail}; not cuda`;
  if (bins === undefined) return failing(what, without, 'switchyard gpu install llama-cpp');
  const unlinked = await unlinkedIn(run, what, join(bins, 'libggml-cuda.so'));
  return unlinked ?? failing(what, without, DRIVER);
}

/** Checks CTranslate2 where it is installed. */
async function ctranslate2(
  run: RunCommand,
  python: PythonEnvironment,
): Promise<readonly Diagnosis[]> {
  const { state, manifest } = python.state();
  if (state !== 'ready') return [];
  const what = 'CTranslate2';
  const { output } = await run(python.python, ['-c', DEVICES]);
  const devices = Number(/"devices": (\d+)/.exec(output)?.[1] ?? 0);
  if (devices > 0 && manifest!.cuda) return [passing(what, `${devices} CUDA devices`)];
  const fix = manifest!.cuda ? DRIVER : 'switchyard engines install ctranslate2 --cuda';
  const detail = `${devices} CUDA devices${manifest!.cuda ? '' : '; its CUDA libraries are not installed'}`;
  return [failing(what, detail, fix)];
}

const DEFAULT_PARTS: readonly GpuPart[] = ['llama-cpp'];

const CHECK_HELP = `Exit code 0: everything that is listed works on the GPU of this machine. Exit code 1: something is missing, the GPU
itself included. Libraries are looked up as an engine does, LD_LIBRARY_PATH included.`;

const INSTALL_HELP = `${Object.entries(GPU_PARTS)
  .map(([name, { megabytes }]) => `${name.padEnd(17)} ${megabytes} MB of downloads`)
  .join('\n')}

They go into node_modules. npm ci removes them: run this again. The driver, CUDA and cuDNN are not installed;
switchyard gpu check names what is missing.`;

const check = command('check', {
  about:
    'driver, CUDA, cuDNN and the engines that compute on a GPU; each problem comes with its repair',
  examples: ['gpu check', 'gpu check --json'],
  notes: CHECK_HELP,
  run: () => checkGpu(),
  text: diagnosesText,
});

const install = command('install [parts...]', {
  about: 'the GPU libraries of llama.cpp',
  arg: ['what to install', Object.keys(GPU_PARTS)],
  examples: ['gpu install', 'gpu install llama-cpp --dry-run'],
  notes: INSTALL_HELP,
  options: { '--dry-run': 'only list what would be done' },
  json: 'the steps of each part as one JSON document',
  async run({ arg, options: { dryRun = false }, signal }) {
    const parts: { part: string; steps: readonly string[] }[] = [];
    for (const part of arg.length > 0 ? arg : DEFAULT_PARTS) {
      const steps: string[] = [];
      const report = (text: string) => {
        say(text);
        steps.push(text.trim());
      };
      await installGpu(part as GpuPart, { dryRun, report, signal });
      parts.push({ part, steps });
    }
    return { dry_run: dryRun, parts };
  },
});

export const gpuCommand = commandGroup('gpu', 'GPU: check, install', [check, install]);
