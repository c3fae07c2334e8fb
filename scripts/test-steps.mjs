import { existsSync } from 'node:fs';
import { ensureBuild, ensureConsole } from './setup/build.mjs';
import { command, inRoot } from './setup/command.mjs';
import { nodeBinary } from './setup/packages.mjs';
import { SetupError } from './setup/report.mjs';
import { runSuite, runSuites } from './test-suite.mjs';

/** Each of them loads the same modules. */
const COMPUTING = { flags: ['--maxWorkers=3'] };
/**
 * Specs that wait for processes, locks and windows much of the time: so many at a time
 * keep two cores busy.
 */
const WAITING = { flags: ['--maxWorkers=3'] };
/** Its files share two products. */
const ONE_BY_ONE = { flags: ['--runInBand'] };
/** Kills of batch processors; in the chaos step they are 6. */
const NIGHT_KILLS = '50';
/** Random histories of devices, 100 in the property step, and days with kills, 1 there. */
const NIGHT_DEVICES = { DEVICE_RUNS: '100000', DEVICE_SEEDS: '50' };
/** Random loads against time limits; in the property step they are 300. */
const NIGHT_LOADS = '10000';
/** Thousands of histories of text over several gateways; in the contract step it is 1. */
const NIGHT_ORDERS = '100';
/** Seconds that links are frozen; in the chaos step it is 5. */
const NIGHT_LINKS = '30,90';

/**
 * What each command runs, cheapest first. `packages`: sets of Debian packages (see
 * `setup/engine-packages.mjs`). A step is {name, proves, run, folders?, beside?, within?}:
 * `folders` are those of its spec files, `beside` is the step at whose time it runs, and
 * `within` the one whose jest process runs its files, too, so that no worker waits for the
 * end of a step. `run` takes the steps within; it returns {passed, failed, output?} and
 * what `runSuites` adds, a list where there are steps within.
 */
export const TIERS = {
  test: {
    command: 'npm test',
    packages: ['engine', 'cluster'],
    steps: [
      { name: 'build', proves: 'dist/, console/dist/', run: build },
      { name: 'static', proves: 'lint, types, format, spelling, layers, contracts', run: checks },
      suite('unit', 'specs beside their files', ['packages', 'src'], COMPUTING),
      suite('registry', 'manual, tables and code agree', ['test/architecture'], { within: 'unit' }),
      suite('property', 'invariants under random histories', ['test/property'], { within: 'unit' }),
      suite('contract', 'one suite for every engine', ['test/contract'], { within: 'unit' }),
      suite('costs', 'CPU of the largest legal requests', ['test/costs'], {
        flags: ['--maxWorkers=1'],
      }),
      suite('smoke', 'two products, every dialect, kills', ['test/smoke'], {
        ...ONE_BY_ONE,
        beside: 'costs',
      }),
    ],
  },
  gate: {
    command: 'npm run test:gate',
    packages: ['engine', 'cluster', 'gate'],
    steps: [
      { name: 'build', proves: 'dist/, console/dist/', run: build },
      suite('integration', 'real gRPC, HTTP and processes', ['test/integration'], WAITING),
      {
        name: 'conformance',
        proves: 'official SDKs, workers in Python',
        beside: 'integration',
        run: conformance,
      },
      {
        name: 'models',
        proves: 'the published ones are fetched',
        beside: 'integration',
        run: models,
      },
      suite('chaos', 'kills and overload', ['test/chaos'], { within: 'integration' }),
      suite('e2e', 'the built product', ['test/e2e'], { within: 'integration' }),
      suite('real', 'published models, human speech', ['test/real'], { within: 'integration' }),
    ],
  },
  night: {
    command: 'npm run test:night',
    packages: ['engine', 'cluster', 'gate', 'night'],
    steps: [
      { name: 'build', proves: 'dist/, console/dist/', run: build },
      tool('packaging', 'Dockerfile, compose, chart, workflows', ['scripts/lint-packaging.mjs']),
      suite('night', 'browsers, docs site, package, minutes of speech', ['test/night']),
      { name: 'kills', proves: `${NIGHT_KILLS} kills of batch processors`, run: kills },
      { name: 'devices', proves: 'memory of devices, 100,000 histories', run: devices },
      { name: 'loads', proves: `time limits under ${NIGHT_LOADS} loads`, run: loads },
      { name: 'order', proves: `${NIGHT_ORDERS},000 histories of chats`, run: orders },
      { name: 'links', proves: `links frozen for ${NIGHT_LINKS} s`, run: links },
      tool('long chaos', 'random plans', ['scripts/chaos.mjs', '--episodes', '20']),
      tool('many chats', 'random plans, two gateways before one server', [
        ...['scripts/chaos.mjs', '--episodes', '10', '--topology', 'cluster', '--traffic', 'chats'],
      ]),
      tool('soak', 'the same processes for 40 plans', [
        ...['scripts/chaos.mjs', '--episodes', '40', '--share'],
      ]),
      ...['images', 'mutants', 'advisories']
        .filter(name => existsSync(inRoot(`scripts/${name}.mjs`)))
        .map(name => tool(name, `npm run ${name}`, [`scripts/${name}.mjs`])),
    ],
  },
};

/** Each once, in the order of the commands. */
export const STEPS = Object.values(TIERS)
  .flatMap(({ steps }) => steps)
  .filter(({ name }, at, all) => all.findIndex(step => step.name === name) === at);

/** One process each, beside one another; of those that fail the output is shown. */
async function checks() {
  const results = await Promise.all(
    Object.entries(CHECKS).map(async ([name, [file, ...args]]) => {
      const { code, output } = await command(file, args);
      return code === 0 ? [] : [`${name}:\n${output.trimEnd()}`];
    }),
  );
  const problems = results.flat();
  return { passed: 0, failed: problems.length, output: problems.join('\n') };
}

/** Words of the field that no dictionary has are in config/words.txt. */
const CSPELL_CACHE = ['--cache', '--cache-strategy', 'content', '--cache-location'];
const CHECKS = {
  lint: ['oxlint', '--type-aware', '--type-check', 'packages', 'src', 'test', 'scripts'],
  format: ['oxfmt', '--check', '.'],
  spelling: [
    ...['cspell', 'lint', '-c', 'config/cspell.json', '--no-progress'],
    ...[...CSPELL_CACHE, 'node_modules/.cache/cspell/'],
  ],
  arch: ['depcruise', '-c', 'config/dependency-cruiser.cjs', 'packages', 'src', 'scripts'],
  proto: ['npm', 'run', '--silent', 'proto:check'],
  // Its packages come with the build.
  console: [inRoot('console/node_modules/.bin/tsc'), '--noEmit', '-p', 'console'],
};

async function build() {
  try {
    await Promise.all([ensureBuild(), ensureConsole()]);
    return { passed: 0, failed: 0 };
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { passed: 0, failed: 1, output: error.message };
  }
}

async function conformance() {
  const args = ['scripts/conformance.mjs', '--no-build'];
  const { code, output } = await command(nodeBinary(), args);
  return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1, output };
}

async function models() {
  const loader = inRoot('test/support/typescript-loader.mjs');
  const args = ['--import', loader, 'test/support/fetch-models.ts'];
  const { code, output } = await command(nodeBinary(), args);
  return { passed: 0, failed: code === 0 ? 0 : 1, output };
}

async function kills() {
  const env = { CHAOS_KILLS: NIGHT_KILLS };
  return runSuite(['test/chaos/batch-kills.spec.ts'], ['--runInBand'], env);
}

async function devices() {
  const specs = ['memory', 'kills'].map(name => `test/property/device-${name}.spec.ts`);
  return runSuite(specs, ['--runInBand'], NIGHT_DEVICES);
}

async function loads() {
  const env = { TIME_LIMIT_LOADS: NIGHT_LOADS };
  return runSuite(['test/property/time-limits.spec.ts'], ['--runInBand'], env);
}

async function orders() {
  const env = { SWITCHYARD_ORDER_THOUSANDS: NIGHT_ORDERS };
  return runSuite(['test/contract/queue/chat-order.contract.spec.ts'], ['--runInBand'], env);
}

async function links() {
  return runSuite(['test/chaos/frozen-links.spec.ts'], ['--runInBand'], {
    CHAOS_LINKS: NIGHT_LINKS,
  });
}

/** @param options flags of jest, and `beside` or `within` */
function suite(name, proves, folders, { flags = ['--maxWorkers=2'], ...place } = {}) {
  const run = within => {
    const all = [folders, ...within.map(step => step.folders)];
    return runSuites(
      all.map(own => own.map(folder => `${folder}/`)),
      flags,
    );
  };
  return { name, proves, folders, ...place, run };
}

/** A script of the project that writes to the terminal; its exit code counts. */
function tool(name, proves, args) {
  const run = async () => {
    const { code } = await command(nodeBinary(), args, { show: true });
    return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
  };
  return { name, proves, run };
}
