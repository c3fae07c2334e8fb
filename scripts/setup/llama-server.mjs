import { existsSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { command, inRoot, lastLines, toolEnvironment } from './command.mjs';
import { doing, done, warn } from './report.mjs';

const FLAGS = [
  'CMAKE_BUILD_TYPE=Release',
  'BUILD_SHARED_LIBS=ON',
  'GGML_NATIVE=ON',
  'LLAMA_CURL=OFF',
  'LLAMA_OPENSSL=OFF',
  'LLAMA_BUILD_TESTS=OFF',
  'LLAMA_BUILD_EXAMPLES=OFF',
  'LLAMA_BUILD_UI=OFF',
  'LLAMA_USE_PREBUILT_UI=OFF',
];

/**
 * llama.cpp's own server for benches to compare with: built once, for this machine, from
 * the source that node-llama-cpp was built from.
 * @returns its file; undefined when it cannot be had, and then has said why
 */
export async function ensureLlamaServer() {
  // The build of the product comes before.
  const kernels = await import(inRoot('dist/cli/for-scripts.js'));
  const source = kernels.LLAMA_SOURCE;
  const folder = inRoot('node_modules/.cache', `llama-server-${source.release}`);
  const binary = join(folder, 'build', 'bin', 'llama-server');
  if (existsSync(binary)) {
    done('llama-server', 'built before');
    return binary;
  }
  const problem = (await kernels.lackingBuildTools()) ?? (await make(folder, source));
  if (problem === undefined) {
    done('llama-server', 'built');
    return binary;
  }
  warn(`No comparison with llama.cpp's server: ${problem}`);
  return undefined;
}

/** @returns what went wrong */
async function make(folder, { bundle, release, env: buildEnvironment }) {
  rmSync(folder, { recursive: true, force: true });
  doing('llama-server', `release ${release}, cmake: a few minutes`);
  const source = join(folder, 'source');
  const build = join(folder, 'build');
  const ninja = (await command('ninja', ['--version'])).code === 0 ? ['-G', 'Ninja'] : [];
  const env = toolEnvironment(buildEnvironment);
  for (const [tool, ...args] of [
    ['git', 'clone', '--quiet', bundle, source],
    ['cmake', '-S', source, '-B', build, ...ninja, ...FLAGS.map(flag => `-D${flag}`)],
    [
      'cmake',
      '--build',
      build,
      '--target',
      'llama-server',
      '--parallel',
      String(availableParallelism()),
    ],
  ]) {
    const made = await command(tool, args, { env });
    if (made.code !== 0) return `${tool}: ${lastLines(made.output)}`;
  }
  rmSync(source, { recursive: true });
  return undefined;
}
