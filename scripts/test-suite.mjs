import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { command, inRoot, toolEnvironment } from './setup/command.mjs';
import { nodeBinary } from './setup/packages.mjs';

/**
 * A jest process that does not exit this long after its last test has left a handle open.
 */
const EXIT_MS = 15_000;

/**
 * Runs the specs below `paths`. A spec file that failed is run once more, alone: real
 * processes on a shared machine can lack CPU for seconds. The summary names these files.
 * `needs`: packages that skipped tests lack, once for each test.
 * @returns {Promise<{passed: number, failed: number, skipped: number, files: {name:
 *   string, durationMs: number}[],
 *   needs: string[], secondTry: string[], open: string[]}>}
 */
export async function runSuite(paths, flags, env = {}) {
  const first = await jest(paths, [...flags, ...paths.map(path => inRoot(path))], env);
  if (!first.failed || first.failedFiles.length === 0) return first;
  const again = await jest(paths, ['--runInBand', '--runTestsByPath', ...first.failedFiles], env);
  return {
    ...first,
    passed: first.passed - first.passedInFailedFiles + again.passed,
    failed: again.failed,
    skipped: first.skipped - first.skippedInFailedFiles + again.skipped,
    secondTry: first.failedFiles.map(file => relative(inRoot(), file)),
    open: [...first.open, ...again.open],
  };
}

async function jest(paths, args, env) {
  const folder = mkdtempSync(join(tmpdir(), 'jest-'));
  const report = join(folder, 'report.json');
  const exit = watchExit(report);
  try {
    const started = child => exit.watch(child);
    const { code } = await command(nodeBinary(), jestArguments(report, args), {
      show: true,
      env: jestEnvironment(env),
      started,
    });
    if (!existsSync(report)) return NO_REPORT;
    return {
      ...counts(JSON.parse(readFileSync(report, 'utf8')), code),
      open: exit.wasLate ? paths : [],
    };
  } finally {
    exit.stop();
    rmSync(folder, { recursive: true });
  }
}

/** Ends a jest process that has written its report and does not exit. */
function watchExit(report) {
  let timer;
  let since;
  return {
    wasLate: false,
    watch(child) {
      timer = setInterval(() => {
        if (!existsSync(report)) return;
        since ??= performance.now();
        if (performance.now() - since < EXIT_MS) return;
        this.wasLate = true;
        child.kill('SIGKILL');
      }, 500);
    },
    stop: () => clearInterval(timer),
  };
}

const jestArguments = (report, args) => [
  inRoot('node_modules/jest/bin/jest.js'),
  ...['-c', 'config/jest.config.js', '--json', `--outputFile=${report}`, ...args],
];

const jestEnvironment = env =>
  toolEnvironment({
    ...env,
    // The processes that specs start are the same code again and again.
    NODE_COMPILE_CACHE: inRoot('node_modules/.cache/node-compile'),
  });

const NOTHING = {
  passed: 0,
  failed: 0,
  skipped: 0,
  files: [],
  needs: [],
  secondTry: [],
  open: [],
};
/** A run that leaves no report counts as one failure. */
const NO_REPORT = { ...NOTHING, failed: 1, failedFiles: [] };

/** A file that cannot be loaded counts as one failure. */
function counts(
  { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, numPendingTests, testResults },
  code,
) {
  const failed = numFailedTests + numRuntimeErrorTestSuites;
  // Of a run that was ended after its report, only the report counts.
  const ended = code === 0 || code === 1;
  const failedSuites = testResults.filter(({ status }) => status === 'failed');
  const inFailedFiles = status =>
    failedSuites.flatMap(suite => suite.assertionResults).filter(test => test.status === status)
      .length;
  return {
    ...NOTHING,
    passed: numPassedTests,
    failed: failed || (ended && code !== 0 ? 1 : 0),
    skipped: numPendingTests,
    files: testResults.map(file => ({
      name: relative(inRoot(), file.name),
      durationMs: file.endTime - file.startTime,
    })),
    needs: missingIn(testResults),
    failedFiles: failedSuites.map(({ name }) => name),
    passedInFailedFiles: inFailedFiles('passed'),
    skippedInFailedFiles: inFailedFiles('pending'),
  };
}

/**
 * What skipped tests name as missing (`test/support/requires.ts`); not what the machine
 * itself lacks.
 */
const missingIn = testResults =>
  testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status, fullName }) => status === 'pending' && !fullName.includes('[no '))
    .map(({ fullName }) => /\[needs ([^\]]+)\]/.exec(fullName)?.[1] ?? 'an unknown reason');
