import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { LLAMA_PACKAGE } from '@switchyard/engine-llama-cpp/binaries.js';
import {
  engineModules,
  engineVersion,
  installEnginePackages,
} from '../../../src/cli/models/engines/engine-packages.js';
import { fakeCommands } from '../../support/fake-commands.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const VERSIONS = {
  'sherpa-onnx-node': '1.13.8',
  '@node-llama-cpp/linux-x64': '3.22.1',
};

/** An npm that makes what it is asked for, and writes down how it was asked. */
const NPM = `echo "$@" >> asked.txt
for wanted in "$@"; do
  case $wanted in *@*) mkdir -p "node_modules/\${wanted%@*}"
    echo "{ \\"version\\": \\"\${wanted##*@}\\" }" > "node_modules/\${wanted%@*}/package.json";;
  esac
done`;

let product: string;
let said: string[];
beforeEach(() => {
  product = temporaryFolder();
  said = [];
  write('package.json', {
    dependencies: {},
    engineDependencies: VERSIONS,
  });
});

function write(path: string, content: object): void {
  mkdirSync(dirname(join(product, path)), { recursive: true });
  writeFileSync(join(product, path), JSON.stringify(content));
}

const install = (engine: string, npm = NPM): Promise<void> =>
  installEnginePackages(
    engine,
    { report: text => said.push(text), run: fakeCommands(product, { npm }) },
    product,
  );

const asked = (): string[] =>
  readFileSync(join(product, 'engines/asked.txt'), 'utf8').trim().split('\n');

describe('engines install, in the npm package', () => {
  it('asks npm for the exact versions, without install scripts', async () => {
    await install('sherpa-onnx');
    expect(asked()).toEqual([expect.stringContaining('--ignore-scripts')]);
    expect(asked()[0]).toMatch(/ sherpa-onnx-node@1\.13\.8$/);
    expect(engineVersion('sherpa-onnx', product)).toBe('1.13.8');
  });

  it('puts only the packages that the code names where it finds them', async () => {
    await install('llama-cpp');
    const link = join(product, 'dist/node_modules', LLAMA_PACKAGE);
    expect(realpathSync(link)).toBe(realpathSync(join(engineModules(product), LLAMA_PACKAGE)));
    expect(existsSync(join(product, 'dist/node_modules/sherpa-onnx-node'))).toBe(false);
  });

  it('does nothing the second time, and replaces another version', async () => {
    await install('sherpa-onnx');
    await install('sherpa-onnx');
    expect(asked()).toHaveLength(1);
    write('engines/node_modules/sherpa-onnx-node/package.json', { version: '1.0.0' });
    await install('sherpa-onnx');
    expect(engineVersion('sherpa-onnx', product)).toBe('1.13.8');
  });

  it('says what npm said when it fails; exit code 3 when the registry is away', async () => {
    const failure = (text: string) => install('sherpa-onnx', `echo "npm error ${text}"; exit 1`);
    await expect(failure('code ENOTFOUND')).rejects.toMatchObject({
      exitCode: 3,
      message: /code ENOTFOUND/,
    });
    await expect(failure('code E404')).rejects.toMatchObject({ exitCode: 1 });
    expect(engineVersion('sherpa-onnx', product)).toBeUndefined();
  });
});

describe('engines install, in a clone', () => {
  beforeEach(() => write('package.json', { dependencies: VERSIONS }));

  it('finds the packages of npm ci', async () => {
    write('node_modules/sherpa-onnx-node/package.json', { version: '1.13.8' });
    await install('sherpa-onnx');
    expect(said).toEqual([
      `sherpa-onnx: sherpa-onnx-node@1.13.8 is in ${join(product, 'node_modules')}`,
    ]);
  });

  it('leaves it to npm ci to bring them', async () => {
    await expect(install('sherpa-onnx')).rejects.toThrow(
      'sherpa-onnx-node@1.13.8 comes with the packages of a clone: npm ci',
    );
    expect(existsSync(join(product, 'engines'))).toBe(false);
  });
});
