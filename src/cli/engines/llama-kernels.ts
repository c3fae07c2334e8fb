import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installCommand } from '@switchyard/engine-api/install-command.js';
import { CliError } from '../shared/cli-error.js';
import { askNode, type Installing, runCommand, demandSuccess } from '../shared/run-command.js';
import { engineModules } from './engine-packages.js';

const MODULES = engineModules();
const PACKAGE = join(MODULES, 'node-llama-cpp');

/**
 * llama.cpp's whole source at the release of the prebuilt binaries; it comes with the
 * package, so nothing is downloaded.
 */
export const LLAMA_SOURCE = {
  bundle: join(PACKAGE, 'llama', 'gitRelease.bundle'),
  get release(): string {
    const file = join(PACKAGE, 'llama', 'binariesGithubRelease.json');
    return (JSON.parse(readFileSync(file, 'utf8')) as { release: string }).release;
  },
  /**
   * Flags that a person set are for other builds: two builds that are compared must differ
   * in their purpose only.
   */
  env: { CFLAGS: '', CXXFLAGS: '', LDFLAGS: '' },
} as const;

/** Any one of the commands will do. */
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

/**
 * Loads llama.cpp as a worker does: node-llama-cpp prefers a local build to
 * the prebuilt binary.
 */
const KERNELS = `
  import { getLlama } from 'node-llama-cpp';
  const { buildType } = await getLlama({ gpu: false, build: 'never', progressLogs: false });
  console.log(JSON.stringify({ buildType }));
  process.exit(0);
`;

/** False, too, where llama.cpp does not load. */
export async function isCompiledHere(): Promise<boolean> {
  const found = await askNode<{ buildType: string }>(runCommand, KERNELS, dirname(MODULES));
  return found?.buildType === 'localBuild';
}

/**
 * Compiles llama.cpp for this machine's CPU, with node-llama-cpp's own command and into
 * its folder. Workers load it at their next start. `npm ci` removes it, and it must not
 * be copied to another kind of CPU.
 */
export async function buildLlamaKernels({ report, signal }: Installing): Promise<void> {
  if (await isCompiledHere()) return report('llama.cpp was compiled for this CPU before');
  const lacking = await lackingBuildTools();
  if (lacking !== undefined) throw new CliError(lacking);
  const { release } = LLAMA_SOURCE;
  report(`compiling llama.cpp ${release} for this CPU: a few minutes`);
  const source = packageCommand(signal);
  const quiet = '--noUsageExample';
  await source('download', '--release', release, '--skipBuild', quiet);
  await source('build', '--gpu', 'false', quiet);
  // 200 MB that nothing needs any more.
  await source('clear', 'source');
  if (!(await isCompiledHere()))
    throw new CliError(
      'node-llama-cpp does not load what it has built; run again with --prebuilt, then with --native',
    );
  report('llama.cpp is compiled for this CPU; workers load it when they start');
}

/** Restores the binaries of the package. */
export async function removeLlamaKernels({ report, signal }: Installing): Promise<void> {
  await packageCommand(signal)('clear', 'builds');
  report('llama.cpp is as it came with the package');
}

const packageCommand =
  (signal: AbortSignal | undefined) =>
  (...args: readonly string[]) => {
    const command = [join(PACKAGE, 'dist', 'cli', 'cli.js'), 'source', ...args];
    const options = { env: LLAMA_SOURCE.env, signal };
    const running = runCommand(process.execPath, command, options);
    return demandSuccess(`node-llama-cpp source ${args[0]}`, running);
  };
