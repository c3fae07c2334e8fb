import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../shared/cli-error.js';
import { type Installing, lastLines, NPM_INSTALL, runCommand, type RunCommand } from './command.js';
import { engineModules, installedVersion } from './engine-packages.js';
import { ONNX_PROVIDERS, onnxFolder } from './gpu-check.js';
import { findPython } from './python.js';

/** What can be installed, each with the download in MB, as measured. */
export const GPU_PARTS = {
  onnxruntime: { megabytes: 247, packages: [] },
  'llama-cpp': { megabytes: 250, packages: ['linux-x64-cuda', 'linux-x64-cuda-ext'] },
  'llama-cpp-vulkan': { megabytes: 50, packages: ['linux-x64-vulkan'] },
} as const;
export type GpuPart = keyof typeof GPU_PARTS;

interface GpuInstall extends Installing {
  /** node_modules */
  readonly modules?: string;
  readonly python?: string | undefined;
  readonly dryRun: boolean;
}

/**
 * Puts the CUDA halves of native packages where the packages look for them. npm cannot: `.npmrc` ignores install
 * scripts, and package.json replaces llama.cpp's GPU packages, 0.6 GB, by an empty one. `npm ci` removes them again.
 */
export async function installGpu(part: GpuPart, options: GpuInstall): Promise<void> {
  if (`${process.platform}-${process.arch}` !== 'linux-x64')
    throw new CliError(`GPU packages exist for linux-x64; this machine is ${process.platform}-${process.arch}`);
  const modules = options.modules ?? engineModules();
  const place: Place = { ...options, run: options.run ?? runCommand, modules, work: join(modules, '.cache', 'gpu') };
  if (part === 'onnxruntime') return installProviders(place);
  for (const name of GPU_PARTS[part].packages) await installLlamaPackage(name, place);
}

type Place = GpuInstall & Required<Pick<GpuInstall, 'run' | 'modules'>> & { readonly work: string };

function versionOf(name: string, modules: string): string {
  const version = installedVersion(name, modules);
  if (version !== undefined) return version;
  throw new CliError(`${name} is not installed: switchyard engines install, or npm ci`);
}

/**
 * Out of the Python wheel of the same version, which is of CUDA 13. The install script of the npm package brings those
 * of CUDA 12.
 */
async function installProviders(place: Place): Promise<void> {
  const { modules, report, dryRun } = place;
  const folder = onnxFolder(modules);
  const version = versionOf('onnxruntime-node', modules);
  if (ONNX_PROVIDERS.every(name => existsSync(join(folder, name)))) {
    return report(`ONNX Runtime ${version}: its CUDA provider is in ${folder}`);
  }
  report(`ONNX Runtime ${version}: CUDA provider out of the wheel onnxruntime-gpu==${version}, by pip, into ${folder}`);
  if (dryRun) return;
  await inWorkFolder(place, work => providersFromWheel(place, { version, folder, work }));
  report(`ONNX Runtime ${version}: CUDA provider installed`);
}

/** A wheel is a zip archive; of the one for any Python only the libraries are wanted. */
const EXTRACT = `
import sys, zipfile
wheel, folder = sys.argv[1:3]
with zipfile.ZipFile(wheel) as archive:
    for name in sys.argv[3:]:
        with archive.open("onnxruntime/capi/" + name) as source, open(folder + "/" + name, "wb") as target:
            while block := source.read(1 << 20):
                target.write(block)
`;

interface Wheel {
  readonly version: string;
  readonly folder: string;
  readonly work: string;
}

async function providersFromWheel(place: Place, { version, folder, work }: Wheel): Promise<void> {
  const { run, signal, report } = place;
  const python = await findPython(run, place.python);
  const platforms = ['2_17', '2_27', '2_28'].flatMap(glibc => ['--platform', `manylinux_${glibc}_x86_64`]);
  const which = ['--no-deps', '--only-binary', ':all:', '--python-version', '3.12', ...platforms];
  const args = ['-m', 'pip', 'download', '--no-input', '--progress-bar', 'off', ...which, '--dest', work];
  const options = { onLine: (line: string) => report(`  ${line.trim()}`), signal };
  await must('pip download', run(python, [...args, `onnxruntime-gpu==${version}`], options));
  const wheel = (await readdir(work)).find(name => name.endsWith('.whl')) ?? '';
  await must('unpacking the wheel', run(python, ['-c', EXTRACT, join(work, wheel), work, ...ONNX_PROVIDERS], options));
  for (const name of ONNX_PROVIDERS) await rename(join(work, name), join(folder, name));
}

/**
 * npm verifies the download and installs it in a folder of its own, where the override of package.json does not apply.
 * The result then replaces the empty package.
 */
async function installLlamaPackage(name: string, place: Place): Promise<void> {
  const { modules, report, dryRun, run, signal } = place;
  const version = versionOf('node-llama-cpp', modules);
  const target = join(modules, '@node-llama-cpp', name);
  if (existsSync(join(target, 'bins')) && installedVersion(`@node-llama-cpp/${name}`, modules) === version)
    return report(`@node-llama-cpp/${name} ${version} is in ${target}`);
  report(`@node-llama-cpp/${name}@${version} by npm, into ${target}, which replaces the empty package`);
  if (dryRun) return;
  await inWorkFolder(place, async work => {
    await writeFile(join(work, 'package.json'), '{ "private": true }');
    const npm = [...NPM_INSTALL, '--no-save', `@node-llama-cpp/${name}@${version}`];
    await must('npm install', run('npm', npm, { cwd: work, signal }));
    const made = join(work, 'node_modules', '@node-llama-cpp', name);
    if (!existsSync(join(made, 'bins'))) throw new CliError(`npm brought no binaries of @node-llama-cpp/${name}`);
    await rm(target, { recursive: true, force: true });
    // An empty package that npm nested here would be found first.
    await rm(join(modules, 'node-llama-cpp', 'node_modules', '@node-llama-cpp', name), {
      recursive: true,
      force: true,
    });
    await rename(made, target);
  });
  report(`@node-llama-cpp/${name} ${version} installed`);
}

async function inWorkFolder({ work }: Place, use: (folder: string) => Promise<void>): Promise<void> {
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  try {
    await use(work);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function must(what: string, running: ReturnType<RunCommand>): Promise<string> {
  const { code, output } = await running;
  if (code !== 0) throw new CliError(`${what} failed: ${lastLines(output)}`);
  return output;
}
