import { ensureBuild, ensureConsole } from './setup/build.mjs';
import { command, inRoot } from './setup/command.mjs';
import { nodeBinary } from './setup/packages.mjs';
import { SetupError } from './setup/report.mjs';
import { runSuite } from './test-suite.mjs';

/** Type-aware rules and the compiler's own errors, in one pass. */
const LINT = ['--type-aware', '--type-check', 'packages', 'src', 'test', 'scripts'];
/**
 * The files are in the configuration; words of the field that no dictionary has are
 * in config/words.txt.
 */
const SPELLING = ['lint', '-c', 'config/cspell.json', '--no-progress', ...cacheIn('cspell')];

/**
 * These wait for processes, locks and windows much of the time: three at a time keep
 * two cores busy.
 */
const WAITING = ['--maxWorkers=3'];

/**
 * The checks of `npm test`, cheapest first. `run` returns {passed, failed, skipped?,
 * output?} and what `runSuite` adds. `isLight`: one process, nothing on the terminal.
 */
export const STEPS = [
  tool('lint', 'type-aware rules, strict TypeScript', 'oxlint', () => LINT),
  tool('format', 'oxfmt', 'oxfmt', () => ['--check', '.']),
  tool('spelling', 'manual and texts that users read', 'cspell', () => SPELLING),
  tool('arch', 'layers and cycles', 'depcruise', () => [
    '-c',
    'config/dependency-cruiser.cjs',
    'packages',
    'src',
  ]),
  {
    name: 'proto',
    proves: 'contracts lint, generated code is current',
    isLight: true,
    run: () => check(nodeBinary(), ['scripts/proto-check.mjs']),
  },
  { name: 'build', proves: 'dist/, console/dist/', run: build },
  // Its packages come with the build.
  {
    ...tool('console', 'its types', '../../console/node_modules/.bin/tsc', () => [
      '--noEmit',
      '-p',
      'console',
    ]),
    isLight: false,
  },
  suite('unit', 'specs beside their files', '(?:packages|src)'),
  suite('registry', 'manual, tables and code agree', 'test/architecture'),
  suite('property', 'invariants under random histories', 'test/property'),
  suite('contract', 'one suite for every engine', 'test/contract'),
  suite('costs', 'CPU of the largest legal requests', 'test/costs', ['--maxWorkers=1']),
  suite('integration', 'real gRPC, HTTP and processes', 'test/integration', WAITING),
  suite('e2e', 'the built product', 'test/e2e'),
  suite('chaos', 'kills and overload', 'test/chaos'),
  suite('real', 'published models, human speech', 'test/real'),
  suite('full', 'browsers, the manual as a site, minutes of speech', 'test/full'),
];

/** The steps of `npm test -- --quick`. */
export const QUICK = ['lint', 'arch', 'unit', 'registry', 'property', 'contract', 'costs'];
/** The steps that only `npm run test:full` runs. */
export const FULL = ['full'];

function cacheIn(folder) {
  return [
    '--cache',
    '--cache-strategy',
    'content',
    '--cache-location',
    `node_modules/.cache/${folder}/`,
  ];
}

function tool(name, proves, file, args) {
  return {
    name,
    proves,
    isLight: true,
    run: options => check(inRoot('node_modules/.bin', file), args(options)),
  };
}

async function check(file, args) {
  const { code, output } = await command(file, args);
  return code === 0 ? { passed: 0, failed: 0 } : { passed: 0, failed: 1, output };
}

async function build() {
  try {
    await ensureBuild();
    await ensureConsole();
    return { passed: 0, failed: 0 };
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { passed: 0, failed: 1, output: error.message };
  }
}

function suite(name, proves, path, flags = ['--maxWorkers=2']) {
  return { name, proves, run: () => runSuite(path, flags) };
}
