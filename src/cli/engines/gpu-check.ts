import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Diagnosis } from '../shared/diagnosis.js';
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
}: GpuProbe) {
  const asked = await run('nvidia-smi', [
    '--query-gpu=name,driver_version,memory.total',
    '--format=csv,noheader',
  ]);
  const gpus =
    asked.code === 0 ? asked.output.split('\n').filter(line => line.trim() !== '') : [];
  const cached = await run('/bin/sh', ['-c', 'PATH="$PATH:/sbin" ldconfig -p']);
  const folders = await Promise.all(
    libraryFolders.map(folder => readdir(folder).catch(() => [])),
  );
  const libraries = [cached.output, ...folders.flat()].join('\n');
  const checks = [
    driver(gpus, asked.output),
    ...FAMILIES.map(({ what, pattern }): Diagnosis => {
      const found = [...new Set(libraries.match(pattern) ?? [])].sort();
      if (found.length > 0)
        return { what, state: 'ok', detail: `found: ${found.join(', ')}` };
      return {
        what,
        state: 'fail',
        detail: 'no library found',
        fix: cudaFix(CUDA_OF_PACKAGES),
      };
    }),
    ...(await llamaCpp(run, modules)),
    ...(await ctranslate2(run, python)),
  ];
  return {
    ok: checks.every(({ state }) => state !== 'fail'),
    gpus,
    checks,
  } satisfies GpuReport;
}

function driver(gpus: readonly string[], output: string): Diagnosis {
  const what = 'NVIDIA driver';
  if (gpus.length > 0) return { what, state: 'ok', detail: gpus.join('; ') };
  const detail = `this machine has no usable NVIDIA GPU: nvidia-smi says ${lastLines(output, 1)}`;
  const fix =
    "install NVIDIA's driver: 580 or newer for CUDA 13, 525 for CUDA 12; " +
    'a container needs the NVIDIA container toolkit and --gpus all';
  return { what, state: 'fail', detail, fix };
}

/**
 * What a native file is linked with and the loader does not find; undefined if
 * nothing is missing.
 */
async function unlinkedIn(
  run: RunCommand,
  file: string,
): Promise<Omit<Diagnosis, 'what'> | undefined> {
  const { output } = await run('ldd', [file]);
  const missing = [...output.matchAll(/^\s*(\S+) => not found$/gm)].map(
    ([, name = '']) => name,
  );
  if (missing.length === 0) return undefined;
  const version = missing
    .map(name => /^lib(?:cudart|cublas)\.so\.(\d+)$/.exec(name)?.[1])
    .find(Boolean);
  const fix = version === undefined ? "install NVIDIA's driver" : cudaFix(version);
  return {
    state: 'fail',
    detail: `installed, but ${basename(file)} lacks ${missing.join(', ')}`,
    fix,
  };
}

type Backends = Readonly<Record<'cpu' | 'cuda' | 'vulkan', boolean>>;

async function llamaCpp(run: RunCommand, modules: string): Promise<readonly Diagnosis[]> {
  const what = 'llama.cpp';
  const found = await askNode<Backends>(run, LLAMA, dirname(modules));
  if (!found)
    return [
      {
        what,
        state: 'fail',
        detail: 'node-llama-cpp does not load',
        fix: 'switchyard engines install llama-cpp',
      },
    ];
  const loading = Object.entries(found).flatMap(([name, loads]) => (loads ? [name] : []));
  const detail = `back ends that load: ${loading.join(', ')}`;
  if (found.cuda) return [{ what, state: 'ok', detail }];
  const bins = join(
    modules,
    '@node-llama-cpp',
    'linux-x64-cuda',
    'bins',
    'linux-x64-cuda',
  );
  if (!existsSync(bins))
    return [
      {
        what,
        state: 'fail',
        detail: `${detail}; not cuda`,
        fix: 'switchyard gpu install llama-cpp',
      },
    ];
  const unlinked = await unlinkedIn(run, join(bins, 'libggml-cuda.so'));
  return [
    {
      what,
      ...(unlinked ?? {
        state: 'fail',
        detail: `${detail}; not cuda`,
        fix: "install NVIDIA's driver",
      }),
    },
  ];
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
  if (devices > 0 && manifest!.cuda)
    return [{ what, state: 'ok', detail: `${devices} CUDA devices` }];
  const fix = manifest!.cuda
    ? "install NVIDIA's driver"
    : 'switchyard engines install ctranslate2 --cuda';
  const detail = `${devices} CUDA devices${manifest!.cuda ? '' : '; its CUDA libraries are not installed'}`;
  return [{ what, state: 'fail', detail, fix }];
}
