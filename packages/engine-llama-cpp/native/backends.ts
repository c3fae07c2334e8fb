import { readdirSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorMessage } from '@switchyard/engine-api/error-message.js';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { ownName } from '@switchyard/engine-api/own-name.js';
import koffi, { type LibraryHandle } from 'koffi';
import { addonFile, LLAMA_PACKAGE, type LlamaDevice, llamaFolders } from '../binaries.js';

const INSTALL = `${ownName()} engines install llama-cpp`;
const GPU_INSTALL: Readonly<Partial<Record<LlamaDevice, string>>> = {
  cuda: `${ownName()} gpu install llama-cpp, `,
  vulkan: `${ownName()} gpu install llama-cpp-vulkan, `,
};

/**
 * `LLAMA_COMMIT` of the releases whose structures `c-library` knows: that of the published
 * binaries, and that of the source bundle which `engines install llama-cpp --native` builds.
 */
const KNOWN_COMMITS = ['0ad4a86', 'de3ff81'];

/** `enum ggml_backend_dev_type`: a GPU with memory of its own, and one that shares the host's. */
const GPU_TYPES = [1, 2];

/** The libraries of llama.cpp in this process, with the backends of one device registered. */
export interface LoadedLibraries {
  readonly device: LlamaDevice;
  readonly llama: LibraryHandle;
  readonly common: LibraryHandle;
}

/** llama.cpp's own Jinja; throws when the template cannot be read. */
export type JinjaRenderer = new (template: string) => { render(variables: Fields): string };

/** The renderer of llama.cpp's own server (README, item 6). */
export function jinjaRenderer(): JinjaRenderer {
  const addon = createRequire(import.meta.url)(addonFile(modulesFolder())) as {
    readonly AddonJinjaRenderer: JinjaRenderer;
  };
  return addon.AddonJinjaRenderer;
}

/**
 * Loads the binaries for a device. Never builds, never downloads.
 * @param device `auto`: the best one that works here
 * @throws Error that says what to install: no binaries, another release, or a device that was
 *   asked for by name and does not work
 */
export function loadLibraries(device: LlamaDevice | 'auto'): LoadedLibraries {
  const modules = modulesFolder();
  const wanted: readonly LlamaDevice[] =
    device === 'auto' ? ['cuda', 'vulkan', 'metal', 'cpu'] : [device];
  const failures: string[] = [];
  for (const candidate of wanted) {
    const folders = llamaFolders(modules, candidate);
    if (folders.length === 0) continue;
    try {
      return loadFolders(candidate, folders);
    } catch (error) {
      failures.push(errorMessage(error));
      process.stderr.write(`llama.cpp does not run on ${candidate}: ${errorMessage(error)}\n`);
    }
  }
  const reason = failures.join('; ') || `no binaries in ${modules}`;
  if (device === 'auto' || device === 'cpu')
    throw new Error(`llama.cpp does not load on this machine: ${INSTALL} (${reason})`);
  throw new Error(
    `llama.cpp does not run on ${device} here: ${GPU_INSTALL[device] ?? ''}and a driver for the device (${reason})`,
  );
}

/** The `node_modules` that holds the binaries for this platform. */
function modulesFolder(): string {
  try {
    // <modules>/@node-llama-cpp/<platform>/dist/index.js
    const entry = realpathSync(fileURLToPath(import.meta.resolve(LLAMA_PACKAGE)));
    return join(dirname(entry), '..', '..', '..');
  } catch (error) {
    throw new Error(`${LLAMA_PACKAGE} is not installed: ${INSTALL}`, { cause: error });
  }
}

function loadFolders(device: LlamaDevice, folders: readonly string[]): LoadedLibraries {
  const [first = ''] = folders;
  const files = readdirSync(first);
  const open = (name: string): LibraryHandle => {
    const file = files.find(each => libraryName(each) === name);
    if (file === undefined) throw new Error(`${first} has no lib${name}`);
    return koffi.load(join(first, file));
  };
  const ggml = open('ggml');
  const llama = open('llama');
  const common = open('llama-common');
  demandKnown(common);
  llama.func('void llama_log_set(llama_log *, void *)')(LOGGER, null);
  const register = ggml.func('void ggml_backend_load_all_from_path(str)');
  const deviceOf = ggml.func('void *ggml_backend_dev_by_type(int)');
  const works = (): boolean => device === 'cpu' || GPU_TYPES.some(type => deviceOf(type) !== null);
  for (const folder of folders) if (folder === first || !works()) register(folder);
  if (!works()) throw new Error(`no usable device of ${device}`);
  llama.func('void llama_backend_init()')();
  return { device, llama, common };
}

/** "libllama.v0.5.0.so" and "libllama.dylib" are `llama`. */
const libraryName = (file: string): string | undefined =>
  /^(?:lib)?([a-z-]+)(?:\..+)?\.(?:so|dylib|dll)$/.exec(file)?.[1];

function demandKnown(common: LibraryHandle): void {
  const commit = koffi.decode(common.symbol('LLAMA_COMMIT', 'str'), 'str') as string;
  if (!KNOWN_COMMITS.includes(commit))
    throw new Error(
      `this llama.cpp is of commit ${commit}, the engine knows ${KNOWN_COMMITS.join(' and ')}`,
    );
}

/** `enum ggml_log_level`; 5 continues the line before. */
const WARNING = 3;
const CONTINUED = 5;
/** Warnings about what the settings of this engine cause on purpose. */
const ADVICE = /will not be utilized|not marked as outputs|special_eog_ids contains/;
let lastLevel = 0;
let loggedReason: string | undefined;

koffi.proto('void llama_log(int level, str text, void *data)');

/**
 * Warnings and errors reach the worker's log. Why a model does not load stands only there:
 * the call itself says only that it failed.
 */
const LOGGER = koffi.register((level: number, text: string) => {
  if (level !== CONTINUED) lastLevel = level;
  if (lastLevel < WARNING || ADVICE.test(text)) return;
  process.stderr.write(`${text.trimEnd()}\n`);
  loggedReason ??= /(?:error loading model|gguf_init\w*): (.+)/.exec(text)?.[1];
}, 'llama_log *');

/** What llama.cpp logged as the reason that the last model did not load. */
export const reasonInLog = (): string | undefined => loggedReason;
