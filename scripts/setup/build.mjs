import { createHash } from 'node:crypto';
import {
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { BuiltFolder } from './built-folder.mjs';
import { command, inRoot, ROOT } from './command.mjs';
import { nodeBinary } from './packages.mjs';
import { doing, done, SetupError, warn } from './report.mjs';

/** Makes the programs in `dist/` unless nothing changed since the last build. */
export async function ensureBuild() {
  const key = productKey();
  if (DIST.isCurrent(key)) return done('build', 'up to date');
  doing('build', 'dist');
  // The compilers are large: loaded when something has changed only.
  await DIST.replace(key, async () => (await import('./bundle.mjs')).bundle());
  done('build', 'made');
}

/** Whether the programs in `dist/` are those of these sources. */
export const isBuilt = () => DIST.isCurrent(productKey());

const DIST = new BuiltFolder(inRoot('dist'));
const productKey = () =>
  fingerprint(['src', 'packages', ...CONFIGURATION, 'scripts/setup/bundle.mjs']);

const CONFIGURATION = ['package-lock.json', '.swcrc'];
const SWC = inRoot('node_modules/@swc/cli/bin/swc.js');
const OPTIONS = ['--config-file', '.swcrc', '-q'];

/** Where compiled code finds packages/: in `node_modules` of its folder. */
function ensureOwnPackages(folder) {
  const into = join(folder, 'node_modules/@switchyard');
  const args = [SWC, 'packages', '-d', into, '--strip-leading-paths', '--copy-files', ...OPTIONS];
  return ensureCompiled({
    what: 'own packages',
    from: ['packages', ...CONFIGURATION],
    into,
    args,
  });
}

/**
 * Builds `console/dist` unless nothing changed since the last build; its packages
 * are its own.
 */
export async function ensureConsole({ install = true } = {}) {
  const from = [
    'console/src',
    'console/index.html',
    'console/vite.config.ts',
    'console/package-lock.json',
  ];
  const into = inRoot('console/dist');
  if (isCurrent(into, fingerprint([...from, CONSOLE_CONTRACTS])))
    return done('console', 'up to date');
  if (!existsSync(inRoot('console/node_modules'))) {
    if (!install) return warn('console: its packages are missing. Run: npm --prefix console ci');
    doing('npm ci', 'installs the packages of the console');
    const { code, output } = await command(
      'npm',
      ['--prefix', inRoot('console'), 'ci', '--loglevel=error'],
      NPM,
    );
    if (code !== 0)
      return warn(`console: npm ci failed; everything else works without it.\n${output}`);
  }
  const vite = inRoot('console/node_modules/vite/bin/vite.js');
  const args = [vite, 'build', inRoot('console'), '--logLevel=error'];
  return ensureCompiled({
    what: 'console',
    from: [...from, CONSOLE_CONTRACTS],
    into,
    args,
  });
}

const NPM = { env: process.env };
/** What the console shares with the gateway. */
const CONSOLE_CONTRACTS = 'src/contracts/events';

/** Compiles sources and benches side by side. @returns the folder */
export async function ensureBenchBuild() {
  const into = inRoot('node_modules/.cache/switchyard-bench');
  const from = ['src', 'test/bench', 'test/support'];
  const args = [SWC, ...from, '-d', into, ...OPTIONS];
  await ensureCompiled({
    what: 'bench build',
    from: [...from, ...CONFIGURATION],
    into,
    args,
  });
  // What is shared with scripts needs no compiling.
  if (!existsSync(join(into, 'scripts'))) symlinkSync(inRoot('scripts'), join(into, 'scripts'));
  await ensureOwnPackages(into);
  return into;
}

async function ensureCompiled({ what, from, into, args }) {
  const key = fingerprint(from);
  if (isCurrent(into, key)) return done(what, 'up to date');
  doing(what, relative(ROOT, into));
  // A file whose source is gone must not live on.
  rmSync(into, { recursive: true, force: true });
  const { code, output } = await command(nodeBinary(), args);
  if (code !== 0) throw new SetupError(`${what} failed:\n${output}`);
  writeFileSync(stampOf(into), key);
  done(what, 'made');
}

const stampOf = into => join(into, '.sources');
const isCurrent = (into, key) =>
  existsSync(stampOf(into)) && readFileSync(stampOf(into), 'utf8') === key;

/** Changes when a source file is added, removed or edited. */
function fingerprint(paths) {
  const hash = createHash('sha256');
  for (const file of paths.flatMap(path => files(inRoot(path)))) {
    hash.update(`${relative(ROOT, file)} `).update(readFileSync(file));
  }
  return hash.digest('hex');
}

function files(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .filter(name => !IN_NO_BUILD.test(name))
    .sort()
    .flatMap(name => files(join(path, name)));
}

const IN_NO_BUILD = /\.spec\.ts$|\.md$/;
