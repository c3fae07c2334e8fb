import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuild } from './setup/build.mjs';
import { command, inRoot, toolEnvironment } from './setup/command.mjs';
import { nodeBinary } from './setup/packages.mjs';
import { SetupError } from './setup/report.mjs';

/** The checks of `npm test`, cheapest first. `run` answers {passed, failed, skipped?, output?}. */
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
  return { name, proves, run: () => jest(path, flags) };
}

async function jest(path, flags) {
  if (!hasSpecs(inRoot(path))) return { passed: 0, failed: 0, skipped: 0 };
  const folder = mkdtempSync(join(tmpdir(), 'jest-'));
  const report = join(folder, 'report.json');
  try {
    const { code } = await command(nodeBinary(), jestArguments(path, report, flags), {
      show: true,
      env: jestEnvironment(),
    });
    return counts(report, code);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function hasSpecs(folder) {
  return existsSync(folder) && readdirSync(folder, { recursive: true }).some(name => String(name).endsWith('.spec.ts'));
}

/** The folder is anchored: `src` must not also choose `test/…/src…`. */
const jestArguments = (path, report, flags) => [
  inRoot('node_modules/jest/bin/jest.js'),
  // A failed spec may leave a server behind: it must not keep the other steps from being run.
  ...['-c', 'config/jest.config.js', '--forceExit', '--json', `--outputFile=${report}`, ...flags, inRoot(path, '/')],
];

const jestEnvironment = () =>
  toolEnvironment({ NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning' });

/** A file that cannot be loaded counts as one failure; so does a run that leaves no report. */
function counts(report, code) {
  if (!existsSync(report)) return { passed: 0, failed: 1, skipped: 0 };
  const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numPendingTests } = JSON.parse(
    readFileSync(report, 'utf8'),
  );
  const failed = numFailedTests + numRuntimeErrorTestSuites;
  return { passed: numPassedTests, failed: failed || (code === 0 ? 0 : 1), skipped: numPendingTests };
}
