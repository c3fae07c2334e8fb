import { existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { command, inRoot, toolEnvironment } from './command.mjs';
import { doing, done, warn } from './report.mjs';

/** Its source has llama.cpp's own in it, at the release that node-llama-cpp was built from. */
const PACKAGE = 'llama-cpp-python';
const VERSION = '0.3.36';
const FLAGS = [
  ...['CMAKE_BUILD_TYPE=Release', 'BUILD_SHARED_LIBS=ON', 'GGML_NATIVE=ON'],
  ...['LLAMA_CURL=OFF', 'LLAMA_OPENSSL=OFF', 'LLAMA_BUILD_TESTS=OFF', 'LLAMA_BUILD_EXAMPLES=OFF'],
  ...['LLAMA_BUILD_UI=OFF', 'LLAMA_USE_PREBUILT_UI=OFF'],
];
const TOOLS = { python3: ['-m', 'pip', '--version'], cmake: ['--version'], 'c++': ['--version'], tar: ['--version'] };

/**
 * llama.cpp's own server for benches to compare with: downloaded with pip and built once, for this machine.
 * @returns its file; undefined when it cannot be had, and then has said why
 */
export async function ensureLlamaServer() {
  const folder = inRoot('node_modules', '.cache', `llama-server-${VERSION}`);
  const binary = join(folder, 'build', 'bin', 'llama-server');
  if (existsSync(binary)) {
    done('llama-server', 'built before');
    return binary;
  }
  const problem = (await lackingTools()) ?? (await make(folder));
  if (problem === undefined) {
    done('llama-server', 'built');
    return binary;
  }
  warn(`No comparison with llama.cpp's server: ${problem}`);
  return undefined;
}

async function lackingTools() {
  const tried = await Promise.all(
    Object.entries(TOOLS).map(async ([tool, args]) => ({ tool, ...(await command(tool, args)) })),
  );
  const lacking = tried.filter(({ code }) => code !== 0).map(({ tool }) => tool);
  return lacking.length === 0
    ? undefined
    : `it is built with python3 (pip), cmake, c++ and tar; missing: ${lacking.join(', ')}`;
}

/** @returns what went wrong */
async function make(folder) {
  rmSync(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  doing('llama-server', `the source of ${PACKAGE} ${VERSION}, by pip`);
  const pip = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps', '--dest', folder];
  const fetched = await command('python3', [...pip, '--no-binary', PACKAGE, `${PACKAGE}==${VERSION}`]);
  if (fetched.code !== 0) return `pip: ${lastLines(fetched)}`;
  const archive = readdirSync(folder).find(name => name.endsWith('.tar.gz'));
  const unpacked = await command('tar', ['-xzf', join(folder, archive), '-C', folder, '--strip-components=1']);
  if (unpacked.code !== 0) return `tar: ${lastLines(unpacked)}`;
  rmSync(join(folder, archive));
  return build(join(folder, 'vendor', 'llama.cpp'), join(folder, 'build'));
}

async function build(source, into) {
  doing('llama-server', 'cmake, a few minutes');
  const ninja = (await command('ninja', ['--version'])).code === 0 ? ['-G', 'Ninja'] : [];
  // Benches run on all kinds of machines; what a person set for compilers is for other builds.
  const env = toolEnvironment({ CFLAGS: '', CXXFLAGS: '', LDFLAGS: '' });
  for (const args of [
    ['-S', source, '-B', into, ...ninja, ...FLAGS.map(flag => `-D${flag}`)],
    ['--build', into, '--target', 'llama-server', '--parallel', String(availableParallelism())],
  ]) {
    const made = await command('cmake', args, { env });
    if (made.code !== 0) return `cmake: ${lastLines(made)}`;
  }
  return undefined;
}

const lastLines = ({ output }) => output.trim().split('\n').slice(-5).join('\n');
