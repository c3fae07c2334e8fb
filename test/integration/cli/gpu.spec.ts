import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { checkGpu, installGpu } from '../../../src/cli/models/engines/gpu.js';
import { PythonEnvironment } from '../../../src/cli/models/engines/python-environment.js';
import { fakeCommands } from '../../support/fake-commands.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const NVIDIA = 'echo "NVIDIA H200, 570.86.15, 143771 MiB"';
const LDCONFIG = ['libcudart.so.13', 'libcublas.so.13', 'libcudnn.so.9']
  .map(name => `echo "${name} (libc6,x86-64) => /usr/lib/${name}"`)
  .join('\n');
const LINKED = 'echo "	libcudart.so.13 => /usr/lib/libcudart.so.13 (0x00007f)"';

let folder: string;
let modules: string;
beforeEach(() => {
  folder = temporaryFolder();
  modules = join(folder, 'node_modules');
  write('@node-llama-cpp/linux-x64/package.json', '{ "version": "3.22.1" }');
  write('@node-llama-cpp/linux-x64/bins/linux-x64/libllama.so', '');
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(modules, path)), { recursive: true });
  writeFileSync(join(modules, path), text);
}

const cudaLibraries = () => write('.llama-cpp/linux-x64-cuda/bins/linux-x64-cuda/libllama.so', '');

async function check(
  scripts: Readonly<Record<string, string>>,
  {
    libraryFolders = [],
    loading = ['cpu'],
  }: { libraryFolders?: readonly string[]; loading?: readonly string[] } = {},
) {
  const python = new PythonEnvironment(join(folder, 'data'));
  const { ok, checks } = await checkGpu({
    run: fakeCommands(folder, scripts),
    modules,
    libraryFolders,
    python,
    probe: device => Promise.resolve(loading.includes(device)),
  });
  return {
    ok,
    ...Object.fromEntries(
      checks.map(({ what, state, detail, fix }) => [what, [state, detail, fix]]),
    ),
  };
}

describe('gpu check', () => {
  it('says so on a machine without a GPU, and names each repair', async () => {
    const cuda = expect.stringContaining(
      'apt-get install -y cuda-libraries-13-0 libcudnn9-cuda-13',
    );
    expect(await check({ ldconfig: 'true' })).toEqual({
      ok: false,
      'NVIDIA driver': [
        'fail',
        expect.stringContaining('no usable NVIDIA GPU'),
        expect.stringContaining('580'),
      ],
      CUDA: ['fail', 'no library found', cuda],
      cuDNN: ['fail', 'no library found', cuda],
      'llama.cpp': [
        'fail',
        'back ends that load: cpu; not cuda',
        'switchyard gpu install llama-cpp',
      ],
    });
  });

  it('is well where driver, libraries and engines load', async () => {
    cudaLibraries();
    const scripts = { 'nvidia-smi': NVIDIA, ldconfig: LDCONFIG, ldd: LINKED };
    expect(await check(scripts, { loading: ['cpu', 'cuda'] })).toEqual({
      ok: true,
      'NVIDIA driver': ['ok', 'NVIDIA H200, 570.86.15, 143771 MiB', undefined],
      CUDA: ['ok', 'found: libcublas.so.13, libcudart.so.13', undefined],
      cuDNN: ['ok', 'found: libcudnn.so.9', undefined],
      'llama.cpp': ['ok', 'back ends that load: cpu, cuda', undefined],
    });
  });

  it('names the libraries that an installed engine lacks, of the version it is linked with', async () => {
    cudaLibraries();
    const ldd =
      'echo "	libcublas.so.12 => not found"; echo "	libcuda.so.1 => not found"; echo "	libm.so.6 => /lib/libm.so.6"';
    const fix = expect.stringContaining('cuda-libraries-12-0');
    expect(await check({ 'nvidia-smi': NVIDIA, ldconfig: LDCONFIG, ldd })).toMatchObject({
      ok: false,
      'llama.cpp': [
        'fail',
        expect.stringContaining('libggml-cuda.so lacks libcublas.so.12, libcuda.so.1'),
        fix,
      ],
    });
  });

  it('finds libraries in the folders of LD_LIBRARY_PATH', async () => {
    writeFileSync(join(folder, 'libcudnn.so.9'), '');
    expect(await check({ ldconfig: 'true' }, { libraryFolders: [folder] })).toMatchObject({
      cuDNN: ['ok', 'found: libcudnn.so.9', undefined],
    });
  });

  it('asks the driver, not only its command', async () => {
    const { 'NVIDIA driver': found } = (await check({
      'nvidia-smi':
        'echo "NVIDIA-SMI has failed because it couldn\'t communicate with the NVIDIA driver."; exit 9',
    })) as Record<string, unknown>;
    expect(found).toEqual([
      'fail',
      expect.stringContaining("couldn't communicate"),
      expect.anything(),
    ]);
  });
});

const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern);

describe('gpu install', () => {
  const NPM = `for last; do :; done; name=\${last%@*}; version=\${last##*@}
    mkdir -p node_modules/$name/bins; echo "{ \\"version\\": \\"$version\\" }" > node_modules/$name/package.json`;

  async function install(
    part: Parameters<typeof installGpu>[0],
    scripts: Readonly<Record<string, string>>,
    dryRun = false,
  ) {
    const lines: string[] = [];
    const report = (text: string) => void lines.push(text);
    const run = fakeCommands(folder, scripts);
    const failure = await installGpu(part, { run, modules, dryRun, report }).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(existsSync(join(modules, '.cache/engine-package'))).toBe(false);
    return { failure, lines };
  }

  const installed = (name: string) => join(modules, '.llama-cpp', name);

  it("puts llama.cpp's CUDA builds where the engine looks for them, and a second time nothing", async () => {
    expect((await install('llama-cpp', { npm: NPM })).failure).toBe('');
    for (const name of ['linux-x64-cuda', 'linux-x64-cuda-ext']) {
      const text = readFileSync(join(installed(name), 'package.json'), 'utf8');
      expect(JSON.parse(text)).toEqual({ version: '3.22.1' });
      expect(existsSync(join(installed(name), 'bins'))).toBe(true);
    }
    const again = await install('llama-cpp', { npm: 'exit 1' });
    expect(again).toMatchObject({ failure: '', lines: [/ is in /, / is in /].map(matching) });
  });

  it('keeps the builds of another release where npm fails or brings no binaries', async () => {
    write('.llama-cpp/linux-x64-cuda/package.json', '{ "version": "3.0.0" }');
    expect((await install('llama-cpp', { npm: 'echo "npm error 404"; exit 1' })).failure).toContain(
      'npm error 404',
    );
    expect((await install('llama-cpp', { npm: 'true' })).failure).toContain('no binaries');
    expect(existsSync(join(installed('linux-x64-cuda'), 'package.json'))).toBe(true);
  });

  it('--dry-run names each step and does none', async () => {
    const { lines } = await install('llama-cpp', {}, true);
    expect(lines).toEqual([
      expect.stringContaining('@node-llama-cpp/linux-x64-cuda@3.22.1'),
      expect.stringContaining('@node-llama-cpp/linux-x64-cuda-ext@3.22.1'),
    ]);
  });
});
