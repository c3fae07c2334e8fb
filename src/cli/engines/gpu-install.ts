import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ownName } from '@switchyard/engine-api/own-name.js';
import { CliError } from '../shared/cli-error.js';
import { type Installing, NPM_INSTALL, runCommand, demandSuccess } from './command.js';
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
  for (const name of GPU_PARTS[part].packages) await installPackage(name, options);
}

/**
 * npm verifies the download and installs it in a folder of its own, where the override of
 * package.json does not apply. The result then replaces the empty package.
 */
async function installPackage(name: string, options: GpuInstall): Promise<void> {
  const { modules = engineModules(), report, dryRun } = options;
  const version = installedVersion('node-llama-cpp', modules);
  if (version === undefined)
    throw new CliError(
      `node-llama-cpp is not installed: ${ownName()} engines install, or npm ci`,
    );
  const own = join('@node-llama-cpp', name);
  const target = join(modules, own);
  if (existsSync(join(target, 'bins')) && installedVersion(own, modules) === version)
    return report(`${own} ${version} is in ${target}`);
  report(`${own}@${version} by npm, into ${target}, which replaces the empty package`);
  if (dryRun) return;
  const work = join(modules, '.cache', 'gpu');
  await remove(work);
  await mkdir(work, { recursive: true });
  try {
    const made = await downloaded(`${own}@${version}`, join(work, 'node_modules', own), {
      ...options,
      work,
    });
    await remove(target);
    // An empty package that npm nested here would be found first.
    await remove(join(modules, 'node-llama-cpp', 'node_modules', own));
    await rename(made, target);
  } finally {
    await remove(work);
  }
  report(`${own} ${version} installed`);
}

/** @returns `made`, where npm has put it. @throws CliError if it has no binaries */
async function downloaded(
  wanted: string,
  made: string,
  { run = runCommand, work, signal }: GpuInstall & { readonly work: string },
): Promise<string> {
  await writeFile(join(work, 'package.json'), '{ "private": true }');
  const npm = [...NPM_INSTALL, '--no-save', wanted];
  await demandSuccess('npm install failed', run('npm', npm, { cwd: work, signal }));
  if (existsSync(join(made, 'bins'))) return made;
  throw new CliError(`npm brought no binaries of ${wanted.replace(/@[^@]+$/, '')}`);
}

const remove = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true });
