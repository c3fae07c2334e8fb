import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Diagnosis, failing, passing } from '../shared/diagnosis.js';
import { askNode, lastLines, runCommand, type RunCommand } from './command.js';
import { engineModules } from './engine-packages.js';
import { type PythonEnvironment } from './python-environment.js';

interface GpuProbe {
  readonly run?: RunCommand;
  readonly modules?: string;
  /** Folders of LD_LIBRARY_PATH. */
  readonly libraryFolders: readonly string[];
  readonly python: PythonEnvironment;
}

export interface GpuReport {
  /** Everything that is named works on the GPU of this machine. */
  readonly ok: boolean;
  readonly gpus: readonly string[];
  readonly checks: readonly Diagnosis[];
}

/** By the version in its file names, such as `libcudart.so.13`. */
const FAMILIES = [
  { what: 'CUDA', pattern: /\blib(?:cudart|cublas)\.so\.\d+/g },
  { what: 'cuDNN', pattern: /\blibcudnn\.so\.\d+/g },
];
/** The image target `cuda` has it. */
export const CUDA_OF_PACKAGES = '13';
const IMAGE = 'or use the image target cuda';
const cudaFix = (version: string): string =>
  `apt-get install -y cuda-libraries-${version}-0 libcudnn9-cuda-${version}, from NVIDIA's repository, ${IMAGE}`;

const LLAMA = `
  import { getLlama, LlamaLogLevel } from 'node-llama-cpp';
  const found = {};
  for (const gpu of [false, 'cuda', 'vulkan'])
    found[gpu || 'cpu'] = await getLlama({ gpu, build: 'never', progressLogs: false, logLevel: LlamaLogLevel.disabled })
      .then(() => true, () => false);
  console.log(JSON.stringify(found));
  process.exit(0);
`;

const DEVICES = `
import ctranslate2, json
print(json.dumps({"devices": ctranslate2.get_cuda_device_count()}))
`;

/**
 * Every reading is made the way an engine would: by loading the libraries in a process
 * of its own.
 */
export async function checkGpu({
  run = runCommand,
  modules = engineModules(),
  libraryFolders,
  python,
}: GpuProbe): Promise<GpuReport> {
  const { code, output } = await run('nvidia-smi', NVIDIA_QUERY);
  const gpus = code === 0 ? output.split('\n').filter(line => line.trim() !== '') : [];
  const cached = await run('/bin/sh', ['-c', 'PATH="$PATH:/sbin" ldconfig -p']);
  const folders = await Promise.all(
    libraryFolders.map(folder => readdir(folder).catch(() => [])),
  );
  const libraries = [cached.output, ...folders.flat()].join('\n');
  const checks = [
    driver(gpus, output),
    ...FAMILIES.map(({ what, pattern }) =>
      library(what, [...new Set(libraries.match(pattern) ?? [])].sort()),
    ),
    await llamaCpp(run, modules),
    ...(await ctranslate2(run, python)),
  ];
  return { ok: checks.every(({ state }) => state !== 'fail'), gpus, checks };
}

const NVIDIA_QUERY = [
  '--query-gpu=name,driver_version,memory.total',
  '--format=csv,noheader',
];

const library = (what: string, found: readonly string[]): Diagnosis =>
  found.length > 0
    ? passing(what, `found: ${found.join(', ')}`)
    : failing(what, 'no library found', cudaFix(CUDA_OF_PACKAGES));

function driver(gpus: readonly string[], output: string): Diagnosis {
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
  const missing = [...output.matchAll(/^\s*(\S+) => not found$/gm)].map(
    ([, name = '']) => name,
  );
  if (missing.length === 0) return undefined;
  const version = missing
    .map(name => /^lib(?:cudart|cublas)\.so\.(\d+)$/.exec(name)?.[1])
    .find(Boolean);
  const fix = version === undefined ? DRIVER : cudaFix(version);
  const detail = `installed, but ${basename(file)} lacks ${missing.join(', ')}`;
  return failing(what, detail, fix);
}

const DRIVER = "install NVIDIA's driver";

type Backends = Readonly<Record<'cpu' | 'cuda' | 'vulkan', boolean>>;

async function llamaCpp(run: RunCommand, modules: string): Promise<Diagnosis> {
  const what = 'llama.cpp';
  const found = await askNode<Backends>(run, LLAMA, dirname(modules));
  if (!found) {
    const fix = 'switchyard engines install llama-cpp';
    return failing(what, 'node-llama-cpp does not load', fix);
  }
  const loading = Object.entries(found).flatMap(([name, loads]) => (loads ? [name] : []));
  const detail = `back ends that load: ${loading.join(', ')}`;
  if (found.cuda) return passing(what, detail);
  const folder = 'linux-x64-cuda';
  const bins = join(modules, '@node-llama-cpp', folder, 'bins', folder);
  const without = `${detail}; not cuda`;
  if (!existsSync(bins))
    return failing(what, without, 'switchyard gpu install llama-cpp');
  const unlinked = await unlinkedIn(run, what, join(bins, 'libggml-cuda.so'));
  return unlinked ?? failing(what, without, DRIVER);
}

/** Only where it is installed. */
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
