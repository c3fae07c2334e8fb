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
 * The programs are bundles, so that what was tested is what is installed. npm installs
 * what has binaries for one platform; packages of engines come by `switchyard engines
 * install`.
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
/** They have binaries for one platform. */
const BY_NPM = ['koffi'];
const LEFT_OUT = /\/(?:__pycache__|\.sources)$/;

const json = path => JSON.parse(readFileSync(path, 'utf8'));

/** @returns the archive */
export async function pack() {
  await ensureBuild();
  await ensureConsole();
  rmSync(PACKAGE_FOLDER, { recursive: true, force: true });
  for (const path of FILES) copy(path);
  const { packages } = json(inRoot('package-lock.json'));
  const engine = await enginePackages();
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

async function enginePackages() {
  const { ENGINE_TABLE } = await import(inRoot('dist/cli/for-scripts.js'));
  return Object.values(ENGINE_TABLE).flatMap(({ npm = [] }) => npm);
}

/** Of the root's package.json, the one table of versions. */
function manifest(packages, engine) {
  const { version, description, license, type, bin, engines, dependencies, overrides } = json(
    inRoot('package.json'),
  );
  const chosen = names =>
    Object.fromEntries(Object.entries(dependencies).filter(([name]) => names.includes(name)));
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
    dependencies: chosen(BY_NPM),
    // bullmq packs messages faster with it, and works without.
    optionalDependencies: {
      'msgpackr-extract': packages['node_modules/msgpackr-extract'].version,
    },
    engineDependencies: chosen(engine),
    engineOverrides: overrides,
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
