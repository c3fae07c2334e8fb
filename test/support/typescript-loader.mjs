/**
 * Lets plain Node run the sources: `node --import ./test/support/typescript-loader.mjs
 * some.ts`. Used for child processes of tests, which jest's own transform does not reach.
 * Compiled text is cached by its content: hundreds of processes of a test run load the
 * same few hundred files.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const CACHE = fileURLToPath(
  new URL('../../node_modules/.cache/typescript-loader/', import.meta.url),
);
const PACKAGES = new URL('../../packages/', import.meta.url);
mkdirSync(CACHE, { recursive: true });
const require = createRequire(import.meta.url);

const options = {
  swcrc: false,
  jsc: {
    target: 'es2023',
    parser: { syntax: 'typescript', decorators: true },
    transform: {
      legacyDecorator: true,
      decoratorMetadata: true,
      useDefineForClassFields: false,
    },
    keepClassNames: true,
  },
  module: { type: 'nodenext' },
  sourceMaps: true,
};

/** Of each loaded file, the file of its source map: for stack traces. */
export const sourceMaps = new Map();

const VERSION = JSON.stringify([
  options,
  process.version,
  readFileSync(require.resolve('@swc/core/package.json'), 'utf8'),
]);

function compiled(filename) {
  const source = readFileSync(filename, 'utf8');
  const cached = join(
    CACHE,
    `${createHash('sha1').update(VERSION).update(filename).update(source).digest('hex')}.js`,
  );
  sourceMaps.set(pathToFileURL(filename).href, `${cached}.map`);
  if (existsSync(cached)) return readFileSync(cached, 'utf8');
  // Loaded when something has changed only: the compiler takes longer to load than a
  // process to start.
  const { code, map } = require('@swc/core').transformSync(source, {
    ...options,
    filename,
  });
  write(`${cached}.map`, map);
  write(cached, code);
  return code;
}

/** Whole or not at all: processes that start together write the same file. */
function write(path, text) {
  writeFileSync(`${path}.${process.pid}`, text);
  renameSync(`${path}.${process.pid}`, path);
}

/**
 * Ours are imported as they are when built. @returns where the source of a
 * module would be
 */
function sourceOf(specifier, parentURL) {
  if (!specifier.endsWith('.js')) return undefined;
  const name = specifier.replace(/\.js$/, '.ts');
  if (name.startsWith('@switchyard/')) return new URL(name.slice('@switchyard/'.length), PACKAGES);
  return name.startsWith('.') && parentURL ? new URL(name, parentURL) : undefined;
}

registerHooks({
  resolve(specifier, context, nextResolve) {
    const source = sourceOf(specifier, context.parentURL);
    if (source && existsSync(source))
      return { url: source.href, format: 'module', shortCircuit: true };
    return nextResolve(specifier, context);
  },
  load(url, context, nextLoad) {
    if (!url.endsWith('.ts')) return nextLoad(url, context);
    return {
      format: 'module',
      source: compiled(fileURLToPath(url)),
      shortCircuit: true,
    };
  },
});
