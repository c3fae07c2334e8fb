import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { command, inRoot, toolEnvironment } from './setup/command.mjs';
import { nodeBinary } from './setup/packages.mjs';

/**
 * A jest process that does not exit this long after its last test has left a handle open.
 */
const EXIT_MS = 15_000;

/** The specs below `paths`, alone. @returns what `runSuites` says of them */
export async function runSuite(paths, flags, env) {
  const [outcome] = await runSuites([paths], flags, env);
  return outcome;
}

/**
 * Runs the specs of several suites, each a list of paths, by the same workers of one jest
 * process. A spec file that failed is run once more, alone: real processes on a shared
 * machine can lack CPU for seconds. `needs`: packages that skipped tests lack, once for
 * each test. `cpuS`: of its spec files and the processes that they started. What belongs
 * to no file counts for the first suite.
 * @returns {Promise<{passed: number, failed: number, skipped: number, files: {name:
 *   string, durationMs: number}[], cpuS: number,
 *   needs: string[], secondTry: string[], open: string[]}[]>} of each suite
 */
export async function runSuites(suites, flags, env = {}) {
  const paths = suites.flat();
  const first = await jest([...flags, ...paths.map(path => inRoot(path))], env);
  const failed = first.files.filter(({ status }) => status === 'failed').map(({ name }) => name);
  const again =
    failed.length > 0
      ? await jest(['--runInBand', '--runTestsByPath', ...failed], env)
      : { files: [], cpu: [] };
  const last = new Map([...first.files, ...again.files].map(file => [file.name, file]));
  const cpu = [...first.cpu, ...again.cpu];
  const outcomes = suites.map(own => {
    const isOwn = ({ name }) => own.some(path => name.startsWith(inRoot(path)));
    return {
      ...counts([...last.values()].filter(isOwn)),
      cpuS: sum(cpu.filter(isOwn).map(({ cpuS }) => cpuS)),
      secondTry: failed.filter(name => isOwn({ name })).map(shown),
      open: [],
    };
  });
  outcomes[0].cpuS += sum(cpu.filter(({ name }) => name === '').map(({ cpuS }) => cpuS));
  // No file failed, but the run did.
  if (first.isBroken && failed.length === 0) outcomes[0].failed += 1;
  if (first.wasLate || again.wasLate) outcomes[0].open = paths;
  return outcomes;
}

async function jest(args, env) {
  const folder = mkdtempSync(join(tmpdir(), 'jest-'));
  const [report, cpu] = [join(folder, 'report.json'), join(folder, 'cpu.jsonl')];
  const exit = watchExit(report);
  try {
    const { code } = await command(nodeBinary(), jestArguments(report, args), {
      show: true,
      env: jestEnvironment({ ...env, JEST_CPU_FILE: cpu }),
      started: child => exit.watch(child),
    });
    const wasWritten = existsSync(report);
    return {
      files: wasWritten ? JSON.parse(readFileSync(report, 'utf8')).testResults : [],
      cpu: existsSync(cpu) ? readFileSync(cpu, 'utf8').trim().split('\n').map(JSON.parse) : [],
      // Of a run that was ended after its report, only the report counts.
      isBroken: !wasWritten || code === 1,
      wasLate: exit.wasLate,
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

function counts(files) {
  const tests = files.flatMap(({ assertionResults }) => assertionResults);
  const having = status => tests.filter(test => test.status === status).length;
  return {
    passed: having('passed'),
    failed: having('failed') + files.filter(isUnloaded).length,
    skipped: having('pending'),
    files: files.map(({ name, startTime, endTime }) => ({
      name: shown(name),
      durationMs: endTime - startTime,
    })),
    needs: missingIn(tests),
  };
}

/** A file that cannot be loaded counts as one failure. */
const isUnloaded = ({ status, assertionResults }) =>
  status === 'failed' && !assertionResults.some(test => test.status === 'failed');

/**
 * What skipped tests name as missing (`test/support/requires.ts`); not what the machine
 * itself lacks.
 */
const missingIn = tests =>
  tests
    .filter(({ status, fullName }) => status === 'pending' && !fullName.includes('[no '))
    .map(({ fullName }) => /\[needs ([^\]]+)\]/.exec(fullName)?.[1] ?? 'an unknown reason');

const shown = name => relative(inRoot(), name);

const sum = numbers => numbers.reduce((total, number) => total + number, 0);
