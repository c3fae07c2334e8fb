import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { threadEntry } from '@switchyard/engine-api/threads/engine-thread.js';

/** What the binaries of one folder compute on. */
export type LlamaDevice = 'cpu' | 'cuda' | 'vulkan' | 'metal';

const SCOPE = '@node-llama-cpp';

/** Builds of llama.cpp that are published, by `process.platform` and `process.arch`. */
const PLATFORMS: Readonly<Partial<Record<string, string>>> = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'darwin-arm64': 'mac-arm64-metal',
  'darwin-x64': 'mac-x64',
  'win32-x64': 'win-x64',
  'win32-arm64': 'win-arm64',
};

const HERE = `${process.platform}-${process.arch}`;
const PLATFORM = PLATFORMS[HERE] ?? HERE;

/** The npm package with the binaries of llama.cpp for this platform. */
export const LLAMA_PACKAGE = `${SCOPE}/${PLATFORM}`;

/** The npm package with the binaries for a GPU, such as "linux-x64-cuda". */
export const gpuPackage = (name: string): string => `${SCOPE}/${name}`;

/**
 * Where a build is installed that npm does not manage: npm leaves folders whose name begins
 * with a dot as they are, except `npm ci`, which removes all of `node_modules`.
 * @param modules the `node_modules` with the package of this platform
 * @param name "linux-x64-cuda", "native"
 */
export const extraFolder = (modules: string, name: string): string =>
  join(modules, '.llama-cpp', name);

/** Name of the binaries that were compiled for the CPU of this machine. */
export const NATIVE = 'native';

/** The folder with the published libraries for the CPU of this platform. */
const publishedFolder = (modules: string): string => join(modules, LLAMA_PACKAGE, 'bins', PLATFORM);

/**
 * The N-API addon that is published beside the libraries: it has llama.cpp's Jinja, which
 * no function of C reaches.
 */
export const addonFile = (modules: string): string =>
  join(publishedFolder(modules), 'llama-addon.node');

/**
 * @returns the folder with the libraries for a device, then those with other builds of its
 *   backend; empty: they are not installed
 */
export function llamaFolders(modules: string, device: LlamaDevice): readonly string[] {
  const bins = (folder: string, name: string): string => join(folder, 'bins', name);
  const own = publishedFolder(modules);
  const gpu = `${HERE}-${device}`;
  const built = bins(extraFolder(modules, NATIVE), NATIVE);
  const candidates = {
    cpu: [existsSync(built) ? built : own],
    metal: PLATFORM.endsWith('-metal') ? [own] : [],
    cuda: [
      bins(extraFolder(modules, gpu), gpu),
      join(bins(extraFolder(modules, `${gpu}-ext`), gpu), 'fallback'),
    ],
    vulkan: [bins(extraFolder(modules, gpu), gpu)],
  }[device];
  return candidates.filter(existsSync);
}

/** A program that ends with 0 if the libraries for a device, its argument, load and find it. */
export const probeProgram = (): string =>
  fileURLToPath(threadEntry('./native/probe.child.js', import.meta.url));
