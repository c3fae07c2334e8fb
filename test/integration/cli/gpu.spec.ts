import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { checkGpu, ONNX_PROVIDERS, onnxFolder } from '../../../src/cli/engines/gpu-check.js';
import { installGpu, type GpuPart } from '../../../src/cli/engines/gpu-install.js';
import { PythonEnvironment } from '../../../src/cli/engines/python-environment.js';
import { fakeCommands, fakePython } from '../../support/fake-commands.js';

const NVIDIA = 'echo "NVIDIA H200, 570.86.15, 143771 MiB"';
const LDCONFIG = ['libcudart.so.13', 'libcublas.so.13', 'libcudnn.so.9']
  .map(name => `echo "${name} (libc6,x86-64) => /usr/lib/${name}"`)
  .join('\n');
const LINKED = 'echo "	libcudart.so.13 => /usr/lib/libcudart.so.13 (0x00007f)"';

let folder: string;
let modules: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gpu-'));
  modules = join(folder, 'node_modules');
  write('onnxruntime-node/package.json', '{ "version": "1.30.0", "type": "module", "exports": "./index.js" }');
  write('node-llama-cpp/package.json', '{ "version": "3.22.1", "type": "module", "exports": "./index.js" }');
  // What the empty package of package.json's overrides looks like.
  for (const name of ['linux-x64-cuda', 'linux-x64-cuda-ext'])
    write(`@node-llama-cpp/${name}/package.json`, '{ "name": "onnxruntime-common", "version": "1.30.0" }');
  engines({ onnx: 'libcublasLt.so.12: cannot open shared object file', llama: ['cpu'] });
  mkdirSync(onnxFolder(modules), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(modules, path)), { recursive: true });
  writeFileSync(join(modules, path), text);
}

/** `onnx`: why the provider does not load; `llama`: the back ends that do. */
function engines({ onnx, llama }: { onnx?: string; llama: readonly string[] }): void {
  const create = onnx === undefined ? 'Promise.resolve({})' : `Promise.reject(new Error(${JSON.stringify(onnx)}))`;
  write('onnxruntime-node/index.js', `export default { env: {}, InferenceSession: { create: () => ${create} } };`);
  const loads = JSON.stringify(llama.map(name => (name === 'cpu' ? false : name)));
  write(
    'node-llama-cpp/index.js',
    `export const LlamaLogLevel = {};
     export const getLlama = async ({ gpu }) => { if (!${loads}.includes(gpu)) throw new Error('no binary'); };`,
  );
}

const withProviders = () => ONNX_PROVIDERS.forEach(name => writeFileSync(join(onnxFolder(modules), name), ''));

async function check(scripts: Readonly<Record<string, string>>, libraryFolders: readonly string[] = []) {
  const python = new PythonEnvironment(join(folder, 'data'));
  const { ok, checks } = await checkGpu({ run: fakeCommands(folder, scripts), modules, libraryFolders, python });
  return { ok, ...Object.fromEntries(checks.map(({ what, state, detail, fix }) => [what, [state, detail, fix]])) };
}

describe('gpu check', () => {
  it('says so on a machine without a GPU, and names each repair', async () => {
    const cuda = expect.stringContaining('apt-get install -y cuda-libraries-13-0 libcudnn9-cuda-13');
    expect(await check({ ldconfig: 'true' })).toEqual({
      ok: false,
      'NVIDIA driver': ['fail', expect.stringContaining('no usable NVIDIA GPU'), expect.stringContaining('580')],
      CUDA: ['fail', 'no library found', cuda],
      cuDNN: ['fail', 'no library found', cuda],
      'ONNX Runtime': ['fail', expect.stringContaining('CPU provider only'), 'switchyard gpu install onnxruntime'],
      'llama.cpp': ['fail', 'back ends that load: cpu; not cuda', 'switchyard gpu install llama-cpp'],
    });
  });

  it('is well where driver, libraries and engines load', async () => {
    engines({ llama: ['cpu', 'cuda', 'vulkan'] });
    withProviders();
    expect(await check({ 'nvidia-smi': NVIDIA, ldconfig: LDCONFIG, ldd: LINKED })).toEqual({
      ok: true,
      'NVIDIA driver': ['ok', 'NVIDIA H200, 570.86.15, 143771 MiB', undefined],
      CUDA: ['ok', 'found: libcublas.so.13, libcudart.so.13', undefined],
      cuDNN: ['ok', 'found: libcudnn.so.9', undefined],
      'ONNX Runtime': ['ok', 'the CUDA provider loads', undefined],
      'llama.cpp': ['ok', 'back ends that load: cpu, cuda, vulkan', undefined],
    });
  });

  it('names the libraries that an installed engine lacks, of the version it is linked with', async () => {
    withProviders();
    mkdirSync(join(modules, '@node-llama-cpp/linux-x64-cuda/bins/linux-x64-cuda'), { recursive: true });
    const ldd =
      'echo "	libcublas.so.12 => not found"; echo "	libcuda.so.1 => not found"; echo "	libm.so.6 => /lib/libm.so.6"';
    const fix = expect.stringContaining('cuda-libraries-12-0');
    expect(await check({ 'nvidia-smi': NVIDIA, ldconfig: LDCONFIG, ldd })).toMatchObject({
      ok: false,
      'ONNX Runtime': ['fail', expect.stringContaining('providers_cuda.so lacks libcublas.so.12, libcuda.so.1'), fix],
      'llama.cpp': ['fail', expect.stringContaining('libggml-cuda.so lacks libcublas.so.12, libcuda.so.1'), fix],
    });
  });

  it('quotes the engine where all is linked and it does not load', async () => {
    engines({ onnx: 'CUDA driver version is insufficient', llama: ['cpu'] });
    withProviders();
    const found = await check({ 'nvidia-smi': NVIDIA, ldconfig: LDCONFIG, ldd: LINKED });
    expect(found).toMatchObject({
      'ONNX Runtime': ['fail', expect.stringContaining('is insufficient'), expect.any(String)],
    });
  });

  it('finds libraries in the folders of LD_LIBRARY_PATH', async () => {
    writeFileSync(join(folder, 'libcudnn.so.9'), '');
    expect(await check({ ldconfig: 'true' }, [folder])).toMatchObject({
      cuDNN: ['ok', 'found: libcudnn.so.9', undefined],
    });
  });

  it('asks the driver, not only its command', async () => {
    const { 'NVIDIA driver': found } = (await check({
      'nvidia-smi': 'echo "NVIDIA-SMI has failed because it couldn\'t communicate with the NVIDIA driver."; exit 9',
    })) as Record<string, unknown>;
    expect(found).toEqual(['fail', expect.stringContaining("couldn't communicate"), expect.anything()]);
  });
});

describe('gpu install', () => {
  const WHEEL = 'while [ "$1" != --dest ]; do shift; done; touch "$2/onnxruntime_gpu-1.30.0.whl"';
  /** Beside the probe: `-c EXTRACT wheel folder name…`. */
  const PYTHON = `if [ "$1" = -c ] && [ -n "$4" ]; then shift 3; cd "$1"; shift; touch "$@"; exit; fi
    ${fakePython({ pip: WHEEL })}`;
  const NPM = `for last; do :; done; name=\${last%@*}; version=\${last##*@}
    mkdir -p node_modules/$name/bins; echo "{ \\"version\\": \\"$version\\" }" > node_modules/$name/package.json`;

  async function install(part: GpuPart, scripts: Readonly<Record<string, string>>, dryRun = false) {
    const lines: string[] = [];
    const report = (text: string) => void lines.push(text);
    const run = fakeCommands(folder, scripts);
    const failure = await installGpu(part, { run, modules, dryRun, report }).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(existsSync(join(modules, '.cache', 'gpu'))).toBe(false);
    return { failure, lines };
  }
  const providers = () => ONNX_PROVIDERS.filter(name => existsSync(join(onnxFolder(modules), name)));

  it("takes ONNX Runtime's libraries out of the wheel of the same version, once", async () => {
    const { failure, lines } = await install('onnxruntime', { python3: PYTHON });
    expect([failure, providers()]).toEqual(['', ONNX_PROVIDERS]);
    expect(lines.join('\n')).toContain('onnxruntime-gpu==1.30.0');
    expect((await install('onnxruntime', {})).lines).toEqual([expect.stringContaining('its CUDA provider is in')]);
  });

  it('leaves nothing half done where that fails, and says what is missing', async () => {
    expect((await install('onnxruntime', {})).failure).toContain('python3 is not found');
    const pip = fakePython({ pip: 'echo "ERROR: No matching distribution"; exit 1' });
    expect((await install('onnxruntime', { python3: pip })).failure).toContain(
      'pip download failed: ERROR: No matching',
    );
    expect(providers()).toEqual([]);
  });

  it("puts llama.cpp's CUDA packages in place of the empty ones, also of a nested one", async () => {
    write('node-llama-cpp/node_modules/@node-llama-cpp/linux-x64-cuda/package.json', '{}');
    expect((await install('llama-cpp', { npm: NPM })).failure).toBe('');
    for (const name of ['linux-x64-cuda', 'linux-x64-cuda-ext']) {
      const text = readFileSync(join(modules, '@node-llama-cpp', name, 'package.json'), 'utf8');
      expect(JSON.parse(text)).toEqual({ version: '3.22.1' });
      expect(existsSync(join(modules, '@node-llama-cpp', name, 'bins'))).toBe(true);
    }
    expect(existsSync(join(modules, 'node-llama-cpp/node_modules/@node-llama-cpp/linux-x64-cuda'))).toBe(false);
  });

  it('keeps the empty package where npm fails or brings no binaries', async () => {
    expect((await install('llama-cpp', { npm: 'echo "npm error 404"; exit 1' })).failure).toContain('npm error 404');
    expect((await install('llama-cpp', { npm: 'true' })).failure).toContain('no binaries');
    expect(existsSync(join(modules, '@node-llama-cpp/linux-x64-cuda/package.json'))).toBe(true);
  });

  it('--dry-run names each step and does none', async () => {
    const { lines } = await install('llama-cpp', {}, true);
    expect(lines).toEqual([
      expect.stringContaining('@node-llama-cpp/linux-x64-cuda@3.22.1'),
      expect.stringContaining('@node-llama-cpp/linux-x64-cuda-ext@3.22.1'),
    ]);
    expect((await install('onnxruntime', {}, true)).lines).toHaveLength(1);
    expect(providers()).toEqual([]);
  });
});
