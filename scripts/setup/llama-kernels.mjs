import { buildEnvironment, lackingBuildTools, lastLines, llamaRelease } from './llama-build.mjs';
import { command } from './command.mjs';
import { nodeBinary } from './packages.mjs';
import { doing, done, SetupError } from './report.mjs';

/** Asks as a worker does: the package takes a build of its own before the prebuilt one. */
const KIND = `
  import { getLlama } from 'node-llama-cpp';
  const { buildType } = await getLlama({ gpu: false, build: 'never', progressLogs: false });
  console.log(buildType);
  process.exit(0);
`;

/**
 * llama.cpp compiled for this machine's CPU, by node-llama-cpp's own command and into its own folder. Workers take it
 * from their next start on. It goes with `npm ci`, and it must not be carried to another kind of CPU.
 */
export async function ensureNativeKernels() {
  if (await areNative()) return done('llama.cpp for this CPU', 'built before');
  const lacking = await lackingBuildTools();
  if (lacking !== undefined) throw new SetupError(lacking);
  doing('llama.cpp for this CPU', `release ${llamaRelease()}, cmake: a few minutes`);
  await source('download', '--release', llamaRelease(), '--skipBuild');
  await source('build', '--gpu', 'false');
  // 200 MB that nothing needs any more.
  await source('clear', 'source');
  if (!(await areNative()))
    throw new SetupError('node-llama-cpp does not load what it has built; run this again with --remove first');
  done('llama.cpp for this CPU', 'built; workers take it when they start');
}

/** Back to the binaries that came with the package. */
export async function removeNativeKernels() {
  await source('clear', 'builds');
  done('llama.cpp', 'as it came with the package');
}

async function areNative() {
  const asked = await command(nodeBinary(), ['--input-type=module', '--eval', KIND]);
  return asked.output.trim().split('\n').at(-1) === 'localBuild';
}

async function source(verb, ...args) {
  const usage = verb === 'clear' ? [] : ['--noUsageExample'];
  const made = await command('node-llama-cpp', ['source', verb, ...args, ...usage], { env: buildEnvironment() });
  if (made.code !== 0) throw new SetupError(`node-llama-cpp source ${verb}: ${lastLines(made)}`);
}
