import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot } from './command.mjs';
import { doing, done, warn } from './report.mjs';

/**
 * llama.cpp's own server for benches to compare with: built once, for this machine, from
 * the source of the binaries that workers load.
 * @returns its file; undefined when it cannot be had, and then has said why
 */
export async function ensureLlamaServer() {
  // The build of the product comes before.
  const kernels = await import(inRoot('dist/main.scripts.js'));
  const version = kernels.llamaVersion();
  const folder = inRoot('node_modules/.cache', `llama-server-${version}`);
  const binary = join(folder, 'build', 'bin', 'llama-server');
  if (existsSync(binary)) {
    done('llama-server', 'built before');
    return binary;
  }
  try {
    const lacking = await kernels.lackingBuildTools();
    if (lacking !== undefined) throw new Error(lacking);
    doing('llama-server', `of node-llama-cpp ${version}, cmake: a few minutes`);
    await kernels.compileLlama(folder, 'llama-server');
  } catch (error) {
    warn(`No comparison with llama.cpp's server: ${error.message}`);
    return undefined;
  }
  done('llama-server', 'built');
  return binary;
}
