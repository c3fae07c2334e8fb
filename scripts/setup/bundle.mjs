import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { decode, encode } from '@jridgewell/sourcemap-codec';
import { transform } from '@swc/core';
import { build } from 'esbuild';
import { inRoot, ROOT } from './command.mjs';
import { SetupError } from './report.mjs';

const SOURCE_FILES = ['src', 'packages'].flatMap(folder =>
  readdirSync(inRoot(folder), { recursive: true }).map(path => `${folder}/${path}`),
);

/** Files that are started or loaded by their name; each keeps its place, seen from `dist`. */
const ENTRIES = SOURCE_FILES.filter(path =>
  /^src\/(main\.\w+|.*\.thread)\.ts$|^packages\/(engine-(?!api\/)|shared-queue\/).*(\/engine|\.thread|\.child)\.ts$/.test(
    path,
  ),
);

/** What Node needs to know of the packages whose files are loaded by name or as threads, and their models. */
const COPIED = SOURCE_FILES.filter(path =>
  /^packages\/(?:engine-(?!api\/)[^/]+|shared-queue)\/(package\.json|silero-vad\/.+)$/.test(path),
);

/** They have binaries, or come with an engine: found by name in `node_modules`. */
const BY_NAME = ['koffi', 'msgpackr-extract', 'sherpa-onnx-node'];

/** What libraries would load for features that are not used. */
const NEVER_LOADED = [
  ...['@nestjs/platform-express', '@nestjs/platform-socket.io', '@fastify/view'],
  ...['kafkajs', 'mqtt', 'amqplib', 'amqp-connection-manager', '@nats-io/transport-node'],
  ...['class-validator', 'class-transformer', 'class-transformer/storage', '@grpc/proto-loader'],
];

/** Files that are read, not loaded, where a library looks for them: beside it, by its name. */
const SWAGGER_UI = [
  ...['package.json', 'absolute-path.js', 'swagger-ui.css', 'index.css'],
  ...['swagger-ui-bundle.js', 'swagger-ui-standalone-preset.js'],
  ...['favicon-16x16.png', 'favicon-32x32.png'],
].map(name => `node_modules/swagger-ui-dist/${name}`);

/** Inside a bundle, CommonJS packages ask for modules of Node. */
const BANNER = `import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);`;

const { $schema: _, exclude: __, ...SWC } = JSON.parse(readFileSync(inRoot('.swcrc'), 'utf8'));

/**
 * Makes the programs, with what they share in `chunks/`, and a file of its own for each
 * thread and child. Names of classes and functions stay; source maps lead to the lines of the sources.
 * @returns path in `dist` and contents of each file, those that others name first
 * @throws SetupError with what the compiler says
 */
export async function bundle() {
  const isThread = path => /\.(thread|child)\.ts$/.test(path);
  const made = await Promise.all([
    bundled(
      ENTRIES.filter(path => !isThread(path)),
      { splitting: true },
    ),
    bundled(ENTRIES.filter(isThread)),
  ]);
  const inputs = made.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  return [
    ...made
      .flatMap(({ outputFiles }) => outputFiles.flatMap(output))
      .sort((one, other) => isChunk(other) - isChunk(one)),
    ...COPIED.map(path => ({ place: built(path), contents: readFileSync(inRoot(path)) })),
    ...SWAGGER_UI.map(path => ({ place: path, contents: readFileSync(inRoot(path)) })),
    { place: 'LICENSES.txt', contents: licences(inputs) },
  ];
}

const bundled = (paths, options) =>
  build({
    ...OPTIONS,
    ...options,
    entryPoints: paths.map(path => ({ in: inRoot(path), out: entry(path) })),
  }).catch(error => {
    throw new SetupError(`build: ${messages(error)}`);
  });

/** Programs name them. */
const isChunk = ({ place }) => place.startsWith('chunks/');

const DIST = inRoot('dist');

/** Where a source is found once it is built, seen from `dist`. */
const built = path =>
  path.replace(/^src\//, '').replace(/^packages\//, 'node_modules/@switchyard/');

const entry = path => built(path).replace(/\.ts$/, '');

/** Stands for the way from an output file to `dist`, known when the file is written. */
const WAY_TO_DIST = '<way to dist>';

function output({ path, text }) {
  const place = relative(DIST, path);
  if (place.endsWith('.map')) return ownMap(place, JSON.parse(text));
  const way = `${relative(dirname(place), '') || '.'}/`;
  return { place, contents: text.replaceAll(WAY_TO_DIST, way) };
}

/** Lines of our sources alone: those of packages would be two thirds of all maps. */
function ownMap(place, { sources, mappings, ...map }) {
  const isOwn = sources.map(source => !source.includes('node_modules/'));
  if (!isOwn.includes(true)) return [];
  const lines = decode(mappings).map(line =>
    line
      .map(segment => (isOwn[segment[1]] ? segment.slice(0, 4) : segment.slice(0, 1)))
      .filter((segment, index, all) => segment.length > 1 || all[index - 1]?.length !== 1),
  );
  const contents = JSON.stringify({ ...map, names: [], sources, mappings: encode(lines) });
  return { place, contents };
}

/** Every program and thread names lines of the sources. */
const FIRST = `import ${JSON.stringify(inRoot('src/platform/process/source-lines.ts'))};`;

/** Decorators keep their metadata, and each file its `import.meta.url`, wherever its code goes. */
const SOURCES = {
  name: 'sources',
  setup(bundler) {
    bundler.onResolve({ filter: /^@switchyard\// }, ({ path }) => ({
      path: inRoot('packages', path.replace('@switchyard/', '').replace(/\.js$/, '.ts')),
    }));
    bundler.onLoad({ filter: /\.ts$/ }, async ({ path: filename }) => {
      const { code } = await transform(await readFile(filename, 'utf8'), {
        ...SWC,
        ...{ swcrc: false, filename, sourceMaps: 'inline' },
      });
      const source = relative(ROOT, filename);
      const place = `${WAY_TO_DIST}${entry(source)}.js`;
      const url = `new URL(${JSON.stringify(place)}, import.meta.url).href`;
      const contents = code
        .replaceAll('createRequire(import.meta.url)(', 'require(')
        .replaceAll('import.meta.url', url);
      return { contents: ENTRIES.includes(source) ? FIRST + contents : contents, loader: 'js' };
    });
  },
};

/**
 * Of the packages. `import()` of a CommonJS package has its names, as Node finds them: a
 * chunk of esbuild has the default export alone. Packages that load parts of themselves
 * when they are used stay together: they are small.
 */
const PACKAGES = {
  name: 'packages',
  setup(bundler) {
    bundler.onResolve({ filter: /^[^./]/ }, async ({ path, kind, pluginData, ...from }) => {
      if (path === IN_MODULES && kind === 'import-statement')
        return { path: inRoot(`node_modules/${IN_MODULES}/esm2015/index.js`), sideEffects: false };
      if (NEVER_LOADED.includes(path)) return { path, external: true };
      if (kind !== 'dynamic-import' || pluginData === PACKAGES) return undefined;
      const found = await bundler.resolve(path, { ...from, kind, pluginData: PACKAGES });
      const wraps = !found.external && found.errors.length === 0 && isCommonJs(found.path);
      return wraps ? { path: found.path, namespace: PACKAGES.name } : found;
    });
    bundler.onLoad({ filter: /./, namespace: PACKAGES.name }, async ({ path }) => {
      const names = Object.keys(await import(path)).filter(name => !NO_NAMES.has(name));
      const contents = `const whole = require(${JSON.stringify(path)});
        export default whole;
        export const { ${names.join()} } = whole;`;
      return { contents, resolveDir: ROOT };
    });
    bundler.onLoad({ filter: IN_PARTS }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replaceAll(PART, 'Promise.resolve(require($1))'),
    }));
  },
};

/** Of its modules only those that are used: with the others come 15 MiB of telephone numbers. */
const IN_MODULES = 'class-validator';

const IN_PARTS = /\/node_modules\/(?:music-metadata|@opentelemetry\/resources)\/.*\.m?js$/;
const PART = /\bimport\(('\.[^']+'|"\.[^"]+")\)/g;

/**
 * An `import` of `node:http` reads all it exports, `WebSocket` among them, with which
 * Node loads its own undici: half of what a batch processor took to start.
 */
const HTTP = {
  name: 'node:http',
  setup(bundler) {
    bundler.onResolve({ filter: /^(?:node:)?http$/ }, ({ kind }) =>
      kind === 'import-statement' ? { path: HTTP.name, namespace: HTTP.name } : undefined,
    );
    bundler.onLoad({ filter: /./, namespace: HTTP.name }, () => ({
      contents: `module.exports = require('node:http');`,
    }));
  },
};

const NO_NAMES = new Set(['default', 'module.exports']);

const isCommonJs = path =>
  path.endsWith('.cjs') || (path.endsWith('.js') && packageOf(path).type !== 'module');

function packageOf(path) {
  const manifest = `${dirname(path)}/package.json`;
  if (existsSync(manifest)) return JSON.parse(readFileSync(manifest, 'utf8'));
  return packageOf(dirname(path));
}

const OPTIONS = {
  ...{ outdir: DIST, chunkNames: 'chunks/[name]-[hash]', write: false, metafile: true },
  ...{ bundle: true, format: 'esm', platform: 'node', target: 'node22.12' },
  ...{
    keepNames: true,
    minifyWhitespace: true,
    lineLimit: 200,
    sourcemap: true,
    sourcesContent: false,
  },
  absWorkingDir: ROOT,
  // As Node resolves: no condition `module`.
  conditions: [],
  external: BY_NAME,
  banner: { js: BANNER },
  plugins: [HTTP, SOURCES, PACKAGES],
  ...{ legalComments: 'none', logLevel: 'silent' },
};

const messages = ({ errors, message }) =>
  errors?.map(({ text, location }) => `${location?.file}:${location?.line}: ${text}`).join('\n') ??
  message;

/** Of every package that has code in the bundles. */
function licences(inputs) {
  const folders = inputs.flatMap(
    path => /^node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(path) ?? [],
  );
  const packages = new Map();
  for (const folder of [...new Set(folders)].sort()) {
    const { title, text } = licence(folder);
    packages.set(text, [...(packages.get(text) ?? []), title]);
  }
  return [...packages].map(([text, titles]) => `${titles.join('\n')}\n\n${text}`).join('\n\n');
}

function licence(folder) {
  const { name, version, license } = JSON.parse(readFileSync(inRoot(folder, 'package.json')));
  const files = readdirSync(inRoot(folder)).filter(file => /^(licen[cs]e|notice)/i.test(file));
  const texts = files.map(file => readFileSync(inRoot(folder, file), 'utf8').trim());
  return { title: `${name} ${version}, ${license}`, text: texts.join('\n\n') };
}
