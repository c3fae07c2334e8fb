import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { installCommand } from '@switchyard/engine-api/install-command.js';
import { extraFolder, LLAMA_PACKAGE, NATIVE } from '@switchyard/engine-llama-cpp/binaries.js';
import { CliError } from '../../shared/cli-error.js';
import { demandSuccess, type Installing, runCommand } from '../../shared/run-command.js';
import { engineModules, installedVersion, withPackage } from './engine-packages.js';

const MODULES = engineModules();

/** Folder of the binaries compiled here, outside of what npm manages. */
const COMPILED = extraFolder(MODULES, NATIVE);

/** Tools that compiling needs: one command of each row. */
const TOOLS = [
  { commands: ['git'], debian: 'git' },
  { commands: ['cmake'], debian: 'cmake' },
  { commands: ['ninja', 'make'], debian: 'ninja-build' },
  { commands: ['c++'], debian: 'g++' },
];

/** @returns what is missing and how to install it; undefined if llama.cpp can be built */
export async function lackingBuildTools(): Promise<string | undefined> {
  const isThere = async (name: string) => (await runCommand(name, ['--version'])).code === 0;
  const found = await Promise.all(TOOLS.map(({ commands }) => Promise.all(commands.map(isThere))));
  const lacking = TOOLS.filter((_, index) => !found[index]!.includes(true));
  if (lacking.length === 0) return undefined;
  const names = lacking.map(({ commands }) => commands.join(' or ')).join(', ');
  const install = installCommand(lacking.map(({ debian }) => debian));
  return `llama.cpp is built with git, cmake, ninja or make, and a C++ compiler; missing: ${names}. ${install}`;
}

/** The version of the binaries, which is also that of the package with their source. */
export const llamaVersion = () => installedVersion(LLAMA_PACKAGE, MODULES);

/** Whether workers load what was compiled for this machine's CPU. */
export const isCompiledHere = (): boolean =>
  llamaVersion() !== undefined && installedVersion('.', COMPILED) === llamaVersion();

const FLAGS = [
  'CMAKE_BUILD_TYPE=Release',
  'BUILD_SHARED_LIBS=ON',
  'CMAKE_BUILD_WITH_INSTALL_RPATH=ON',
  'CMAKE_INSTALL_RPATH=$ORIGIN',
  'GGML_NATIVE=ON',
  'LLAMA_CURL=OFF',
  'LLAMA_OPENSSL=OFF',
  'LLAMA_BUILD_TESTS=OFF',
  'LLAMA_BUILD_EXAMPLES=OFF',
  'LLAMA_BUILD_UI=OFF',
  'LLAMA_USE_PREBUILT_UI=OFF',
];

/**
 * Compiles a target of llama.cpp for this machine's CPU. Its whole source at the release of
 * the binaries comes with the npm package node-llama-cpp, as a bundle of git.
 * @param folder gets `source` and `build`; what was there is removed
 * @returns the folder with the results
 */
export async function compileLlama(
  folder: string,
  target: 'llama-common' | 'llama-server',
  signal?: AbortSignal,
): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const source = join(folder, 'source');
  const build = join(folder, 'build');
  // Flags that a person set are for other builds: two builds that are compared must differ in
  // their purpose only.
  const env = { CFLAGS: '', CXXFLAGS: '', LDFLAGS: '' };
  const step = (tool: string, ...args: readonly string[]) =>
    demandSuccess(`${tool} failed`, runCommand(tool, args, { env, signal }));
  const hasNinja = (await runCommand('ninja', ['--version'])).code === 0;
  await withPackage(`node-llama-cpp@${llamaVersion()}`, { signal }, async made => {
    await step('git', 'clone', '--quiet', join(made, 'llama', 'gitRelease.bundle'), source);
  });
  const flags = FLAGS.map(flag => `-D${flag}`);
  await step('cmake', '-S', source, '-B', build, ...(hasNinja ? ['-G', 'Ninja'] : []), ...flags);
  const jobs = String(availableParallelism());
  await step('cmake', '--build', build, '--target', target, '--parallel', jobs);
  await rm(source, { recursive: true });
  return join(build, 'bin');
}

/**
 * Compiles llama.cpp for this machine's CPU. Workers load it at their next start. `npm ci`
 * removes it, and it must not be copied to another kind of CPU.
 */
export async function buildLlamaKernels({ report, signal }: Installing): Promise<void> {
  if (isCompiledHere()) return report('llama.cpp was compiled for this CPU before');
  const lacking = await lackingBuildTools();
  if (lacking !== undefined) throw new CliError(lacking);
  report(`compiling llama.cpp for this CPU: a few minutes`);
  const work = `${COMPILED}.new`;
  const libraries = await compileLlama(work, 'llama-common', signal);
  const made = join(work, 'made');
  // Links between versions of a library stay links.
  await cp(libraries, join(made, 'bins', NATIVE), { recursive: true, verbatimSymlinks: true });
  await writeFile(join(made, 'package.json'), JSON.stringify({ version: llamaVersion() }));
  await rm(COMPILED, { recursive: true, force: true });
  await rename(made, COMPILED);
  await rm(work, { recursive: true, force: true });
  report('llama.cpp is compiled for this CPU; workers load it when they start');
}

/** Restores the binaries of the package. */
export async function removeLlamaKernels({ report }: Installing): Promise<void> {
  await rm(COMPILED, { recursive: true, force: true });
  report('llama.cpp is as it came with the package');
}
