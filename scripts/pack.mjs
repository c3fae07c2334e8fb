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
 * The programs are bundles, so that what was tested is what is installed. koffi is in the
 * archive without its install script, and npm brings its binaries for one platform, which
 * are packages: nothing of somebody else is executed by an installation. Packages of engines
 * come by `switchyard engines install`.
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
/** Types are for who writes a worker, or changes scripts, in a clone. */
const LEFT_OUT = /\/(?:__pycache__|\.sources|py\.typed)$|\.pyi$|\.d\.mts$/;

const json = path => JSON.parse(readFileSync(path, 'utf8'));

/** @returns the archive */
export async function pack() {
  await ensureBuild();
  await ensureConsole();
  rmSync(PACKAGE_FOLDER, { recursive: true, force: true });
  for (const path of FILES) copy(path);
  copyKoffi();
  writeManifest(PACKAGE_FOLDER, manifest(await enginePackages()));
  const { code, output } = await command('npm', [
    'pack',
    '--json',
    '--pack-destination',
    PACKAGE_FOLDER,
    PACKAGE_FOLDER,
  ]);
  if (code !== 0) throw new SetupError(`npm pack failed:\n${output}`);
  const { filename, size, unpackedSize, entryCount } = JSON.parse(
    output.slice(output.search(/^[[{]/m)),
  )[0];
  done('package', `${entryCount} files; ${megabytes(size)}, ${megabytes(unpackedSize)} unpacked`);
  return join(PACKAGE_FOLDER, filename);
}

const megabytes = bytes => `${(bytes / 1e6).toFixed(1)} MB`;

function copy(path) {
  if (!existsSync(inRoot(path))) throw new SetupError(`${path} is missing: npm ci`);
  mkdirSync(dirname(join(PACKAGE_FOLDER, path)), { recursive: true });
  cpSync(inRoot(path), join(PACKAGE_FOLDER, path), {
    recursive: true,
    filter: source => !LEFT_OUT.test(source),
  });
}

/** Its script would look for the binaries that npm brings, and build them where it finds none. */
function copyKoffi() {
  const folder = join(PACKAGE_FOLDER, KOFFI);
  const isNeeded = source =>
    source === inRoot(KOFFI) ||
    /koffi\/(index\.c?js|LICENSE\.txt|src(\/koffi(\/src(\/[\w-]+\.c?js)?)?)?)$/.test(source);
  cpSync(inRoot(KOFFI), folder, { recursive: true, filter: isNeeded });
  const { scripts: _, ...rest } = json(inRoot(KOFFI, 'package.json'));
  writeManifest(folder, rest);
}

const KOFFI = 'node_modules/koffi';

const writeManifest = (folder, content) =>
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(content, null, 2)}\n`);

async function enginePackages() {
  const { ENGINE_TABLE } = await import(inRoot('dist/main.scripts.js'));
  return Object.values(ENGINE_TABLE).flatMap(({ npm = [] }) => npm);
}

/** Of the root's package.json, the one table of versions. */
function manifest(engine) {
  const { version, description, license, type, bin, engines, dependencies, optionalDependencies } =
    json(inRoot('package.json'));
  // The builds of llama.cpp, one for each platform, are optional.
  const ofEngines = Object.entries({ ...dependencies, ...optionalDependencies }).filter(
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
    dependencies: { koffi: dependencies.koffi },
    bundleDependencies: ['koffi'],
    optionalDependencies: json(inRoot(KOFFI, 'package.json')).optionalDependencies,
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
