import { ensureBuild } from './setup/build.mjs';
import { command, inRoot } from './setup/command.mjs';
import { nodeBinary } from './setup/packages.mjs';
import { SetupError } from './setup/report.mjs';
import { runSuite } from './test-suite.mjs';

/** The checks of `npm test`, cheapest first. `run` answers {passed, failed, skipped?, secondTry?, output?}. */
export const STEPS = [
  tool('lint', 'type-aware rules', 'eslint', ['-c', 'config/eslint.config.js', 'src', 'test', 'scripts']),
  tool('format', 'prettier', 'prettier', ['--check', '--log-level=warn', '.']),
  tool('types', 'strict TypeScript', 'tsc', ['--noEmit', '-p', 'tsconfig.json']),
  tool('arch', 'layers and cycles', 'depcruise', ['-c', 'config/dependency-cruiser.cjs', 'src']),
  {
    name: 'proto',
    proves: 'contracts lint, generated code is current',
    run: () => check(nodeBinary(), ['scripts/proto-check.mjs']),
  },
  { name: 'build', proves: 'dist/', run: build },
  suite('unit', 'specs beside their files', 'src'),
  suite('registry', 'README, tables and code agree', 'test/architecture'),
  suite('property', 'invariants under random histories', 'test/property'),
  suite('contract', 'one suite for every engine', 'test/contract', ['--runInBand']),
  suite('integration', 'real gRPC, HTTP and processes', 'test/integration', ['--runInBand']),
  suite('e2e', 'the built product', 'test/e2e', ['--runInBand']),
  suite('chaos', 'kills and overload', 'test/chaos', ['--runInBand']),
];

function tool(name, proves, file, args) {
  return { name, proves, run: () => check(inRoot('node_modules/.bin', file), args) };
}

async function check(file, args) {
  const { code, output } = await command(file, args);
  return code === 0 ? { passed: 0, failed: 0 } : { passed: 0, failed: 1, output };
}

async function build() {
  try {
    await ensureBuild();
    return { passed: 0, failed: 0 };
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { passed: 0, failed: 1, output: error.message };
  }
}

function suite(name, proves, path, flags = ['--maxWorkers=2']) {
  return { name, proves, run: () => runSuite(path, flags) };
}
