import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { command, inRoot, toolEnvironment } from './setup/command.mjs';
import { nodeBinary } from './setup/packages.mjs';

/**
 * Runs the specs below `path`. A spec file that failed gets one more try, alone: real processes on a shared machine can be
 * starved for seconds. Whoever needed it is named in the summary, so it does not stay unseen.
 * @returns {Promise<{passed: number, failed: number, skipped: number, secondTry?: string[]}>}
 */
export async function runSuite(path, flags) {
  if (!hasSpecs(inRoot(path))) return { passed: 0, failed: 0, skipped: 0 };
  const first = await jest([...flags, inRoot(path, '/')]);
  if (!first.failed || first.failedFiles.length === 0) return first;
  const again = await jest(['--runInBand', '--runTestsByPath', ...first.failedFiles]);
  return {
    passed: first.passed - first.passedInFailedFiles + again.passed,
    failed: again.failed,
    skipped: first.skipped - first.skippedInFailedFiles + again.skipped,
    secondTry: first.failedFiles.map(file => relative(inRoot(), file)),
  };
}

function hasSpecs(folder) {
  return existsSync(folder) && readdirSync(folder, { recursive: true }).some(name => String(name).endsWith('.spec.ts'));
}

async function jest(args) {
  const folder = mkdtempSync(join(tmpdir(), 'jest-'));
  const report = join(folder, 'report.json');
  try {
    const { code } = await command(nodeBinary(), jestArguments(report, args), { show: true, env: jestEnvironment() });
    return existsSync(report) ? counts(JSON.parse(readFileSync(report, 'utf8')), code) : NO_REPORT;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const jestArguments = (report, args) => [
  inRoot('node_modules/jest/bin/jest.js'),
  // A failed spec may leave a server behind: it must not keep the other steps from being run.
  ...['-c', 'config/jest.config.js', '--forceExit', '--json', `--outputFile=${report}`, ...args],
];

const jestEnvironment = () =>
  toolEnvironment({ NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning' });

/** A run that leaves no report counts as one failure. */
const NO_REPORT = { passed: 0, failed: 1, skipped: 0, failedFiles: [] };

/** A file that cannot be loaded counts as one failure. */
function counts({ numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numPendingTests, testResults }, code) {
  const failed = numFailedTests + numRuntimeErrorTestSuites;
  const failedSuites = testResults.filter(({ status }) => status === 'failed');
  const inFailedFiles = status =>
    failedSuites.flatMap(suite => suite.assertionResults).filter(test => test.status === status).length;
  return {
    passed: numPassedTests,
    failed: failed || (code === 0 ? 0 : 1),
    skipped: numPendingTests,
    failedFiles: failedSuites.map(({ name }) => name),
    passedInFailedFiles: inFailedFiles('passed'),
    skippedInFailedFiles: inFailedFiles('pending'),
  };
}
