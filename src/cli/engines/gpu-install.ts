import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ownName } from '@switchyard/engine-api/own-name.js';
import { CliError } from '../shared/cli-error.js';
import {
  type Installing,
  lastLines,
  NPM_INSTALL,
  runCommand,
  type RunCommand,
} from './command.js';
import { engineModules, installedVersion } from './engine-packages.js';

/** What can be installed, each with the download in MB, as measured. */
export const GPU_PARTS = {
  'llama-cpp': { megabytes: 250, packages: ['linux-x64-cuda', 'linux-x64-cuda-ext'] },
  'llama-cpp-vulkan': { megabytes: 50, packages: ['linux-x64-vulkan'] },
} as const;
export type GpuPart = keyof typeof GPU_PARTS;

interface GpuInstall extends Installing {
  /** node_modules */
  readonly modules?: string;
  readonly dryRun: boolean;
}

/**
 * Puts the CUDA halves of native packages where the packages look for them. npm cannot:
 * `.npmrc` ignores install scripts, and package.json replaces llama.cpp's GPU packages,
 * 0.6 GB, by an empty one. `npm ci` removes them again.
 */
export async function installGpu(part: GpuPart, options: GpuInstall): Promise<void> {
  if (`${process.platform}-${process.arch}` !== 'linux-x64')
    throw new CliError(
      `GPU packages exist for linux-x64; this machine is ${process.platform}-${process.arch}`,
    );
  const modules = options.modules ?? engineModules();
  const place: Place = {
    ...options,
    run: options.run ?? runCommand,
    modules,
    work: join(modules, '.cache', 'gpu'),
  };
  for (const name of GPU_PARTS[part].packages) await installLlamaPackage(name, place);
}

type Place = GpuInstall &
  Required<Pick<GpuInstall, 'run' | 'modules'>> & { readonly work: string };

function versionOf(name: string, modules: string): string {
  const version = installedVersion(name, modules);
  if (version !== undefined) return version;
  throw new CliError(`${name} is not installed: ${ownName()} engines install, or npm ci`);
}

/**
 * npm verifies the download and installs it in a folder of its own, where the override of
 * package.json does not apply. The result then replaces the empty package.
 */
async function installLlamaPackage(name: string, place: Place): Promise<void> {
  const { modules, report, dryRun, run, signal } = place;
  const version = versionOf('node-llama-cpp', modules);
  const target = join(modules, '@node-llama-cpp', name);
  if (
    existsSync(join(target, 'bins')) &&
    installedVersion(`@node-llama-cpp/${name}`, modules) === version
  )
    return report(`@node-llama-cpp/${name} ${version} is in ${target}`);
  report(
    `@node-llama-cpp/${name}@${version} by npm, into ${target}, which replaces the empty package`,
  );
  if (dryRun) return;
  await inWorkFolder(place, async work => {
    await writeFile(join(work, 'package.json'), '{ "private": true }');
    const npm = [...NPM_INSTALL, '--no-save', `@node-llama-cpp/${name}@${version}`];
    await must('npm install', run('npm', npm, { cwd: work, signal }));
    const made = join(work, 'node_modules', '@node-llama-cpp', name);
    if (!existsSync(join(made, 'bins')))
      throw new CliError(`npm brought no binaries of @node-llama-cpp/${name}`);
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

async function inWorkFolder(
  { work }: Place,
  use: (folder: string) => Promise<void>,
): Promise<void> {
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  try {
    await use(work);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function must(what: string, running: ReturnType<RunCommand>): Promise<void> {
  const { code, output } = await running;
  if (code !== 0) throw new CliError(`${what} failed: ${lastLines(output)}`);
}
