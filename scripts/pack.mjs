import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuild, ensureConsole } from './setup/build.mjs';
import { command, inRoot } from './setup/command.mjs';
import { done, runMain, SetupError } from './setup/report.mjs';

/**
 * Makes the npm package `switchyard-gateway` in node_modules/.cache/package and prints
 * the name of its archive.
 *
 * The packages that the gateway needs are in the archive (`bundleDependencies`), as
 * package-lock.json has them and without declarations and source maps: what was tested is
 * what is installed, in half the space. Packages with binaries for one platform are
 * installed by npm. Packages of engines come by `switchyard engines install`.
 */
export const PACKAGE_FOLDER = inRoot('node_modules/.cache/package');

const FILES = [
  'dist',
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'console/dist',
  'proto',
  'config/switchyard.yaml',
  'config/models.yaml',
  'config/catalogue.yaml',
  'config/verify-speech.ogg',
  'workers/python/src',
  'workers/python/requirements',
  'workers/python/pyproject.toml',
  'workers/python/README.md',
  ...['switchyard', 'up', 'up-examples', 'up-cluster', 'gateway-probe', 'gateway-process'].map(
    name => `scripts/${name}.mjs`,
  ),
  ...[
    'build',
    'built-folder',
    'command',
    'engine-packages',
    'home',
    'npm-parent',
    'packages',
    'report',
  ].map(name => `scripts/setup/${name}.mjs`),
  'scripts/topology',
];
/** They have binaries for one platform, or bring such packages. */
const BY_NPM = ['koffi', 'msgpackr-extract'];
const LEFT_OUT = /\.(?:map|md|markdown|[cm]?ts|flow)$|\/(?:__pycache__|\.sources)$/;

const json = path => JSON.parse(readFileSync(path, 'utf8'));

/** @returns the archive */
export async function pack() {
  await ensureBuild();
  await ensureConsole();
  rmSync(PACKAGE_FOLDER, { recursive: true, force: true });
  for (const path of FILES) copy(path, path === 'dist' ? withoutTests : kept);
  const { packages } = json(inRoot('package-lock.json'));
  const engine = await enginePackages();
  const bundled = closure(packages, engine);
  for (const path of bundled) copy(path, kept);
  writeFileSync(
    join(PACKAGE_FOLDER, 'package.json'),
    `${JSON.stringify(manifest(packages, engine), null, 2)}\n`,
  );
  const { code, output } = await command('npm', [
    'pack',
    '--json',
    '--pack-destination',
    PACKAGE_FOLDER,
    PACKAGE_FOLDER,
  ]);
  if (code !== 0) throw new SetupError(`npm pack failed:\n${output}`);
  const { filename, size, unpackedSize } = JSON.parse(output.slice(output.search(/^[[{]/m)))[0];
  done(
    'package',
    `${bundled.length} packages in it; ${megabytes(size)}, ${megabytes(unpackedSize)} unpacked`,
  );
  return join(PACKAGE_FOLDER, filename);
}

const megabytes = bytes => `${(bytes / 1e6).toFixed(1)} MB`;

function copy(path, filter) {
  if (!existsSync(inRoot(path))) throw new SetupError(`${path} is missing: npm ci`);
  mkdirSync(dirname(join(PACKAGE_FOLDER, path)), { recursive: true });
  cpSync(inRoot(path), join(PACKAGE_FOLDER, path), {
    recursive: true,
    filter: source => filter(source, inRoot(path)),
  });
}

/** The nested packages of a package are entries of the lockfile themselves. */
const kept = (source, top) =>
  source === top || !(LEFT_OUT.test(source) || source.slice(top.length).includes('/node_modules'));
/** Our own packages are compiled into its `node_modules`. */
const withoutTests = source => !/\.spec\.js$|\.tsbuildinfo$/.test(source) && !LEFT_OUT.test(source);

async function enginePackages() {
  const { ENGINE_TABLE } = await import(inRoot('dist/cli/for-scripts.js'));
  return Object.values(ENGINE_TABLE).flatMap(({ npm = [] }) => npm);
}

/** Places of all packages that the gateway needs at run time, as npm resolved them. */
function closure(packages, engine) {
  const found = new Set();
  const visit = place => {
    if (place === undefined || found.has(place)) return;
    found.add(place);
    const {
      dependencies = {},
      optionalDependencies = {},
      peerDependencies = {},
      peerDependenciesMeta = {},
    } = packages[place];
    const peers = Object.keys(peerDependencies).filter(
      name => !peerDependenciesMeta[name]?.optional,
    );
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
      if (!isLeftOut(name, engine)) visit(placeOf(packages, place, name));
    }
  };
  for (const name of Object.keys(packages[''].dependencies)) {
    if (!isLeftOut(name, engine)) visit(`node_modules/${name}`);
  }
  return [...found].sort();
}

/** Types are for compilers. */
const isLeftOut = (name, engine) =>
  engine.includes(name) || BY_NPM.includes(name) || name.startsWith('@types/');

function placeOf(packages, from, name) {
  for (let at = from; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (packages[`${at}/node_modules/${name}`]) return `${at}/node_modules/${name}`;
  }
  return packages[`node_modules/${name}`] ? `node_modules/${name}` : undefined;
}

/** Of the root's package.json, the one table of versions. */
function manifest(packages, engine) {
  const { version, description, license, type, bin, engines, dependencies, ...rest } = json(
    inRoot('package.json'),
  );
  const ordinary = Object.entries(dependencies).filter(([name]) => !engine.includes(name));
  // The builds of llama.cpp, one for each platform, are optional.
  const ofEngines = Object.entries({ ...dependencies, ...rest.optionalDependencies }).filter(
    ([name]) => engine.includes(name) || name.startsWith('@node-llama-cpp/'),
  );
  return {
    name: 'switchyard-gateway',
    version,
    description,
    license,
    type,
    bin,
    engines,
    keywords: [
      'inference',
      'scheduling',
      'openai',
      'speech-to-text',
      'text-to-speech',
      'llm',
      'gateway',
    ],
    dependencies: Object.fromEntries(ordinary),
    bundleDependencies: ordinary.map(([name]) => name).filter(name => !BY_NPM.includes(name)),
    // bullmq packs messages faster with it, and works without.
    optionalDependencies: {
      'msgpackr-extract': packages['node_modules/msgpackr-extract'].version,
    },
    engineDependencies: Object.fromEntries(ofEngines),
  };
}

if (import.meta.filename === process.argv[1]) {
  await runMain(async () => {
    const { values } = parseArgs({
      options: { help: { type: 'boolean', short: 'h', default: false } },
    });
    if (values.help)
      return void console.log(
        'npm run pack    makes the archive of the npm package and prints its name',
      );
    console.log(await pack());
  });
}
