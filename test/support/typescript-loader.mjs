/**
 * Lets plain Node run the sources: `node --import ./test/support/typescript-loader.mjs some.ts`.
 * Used for child processes of tests, which jest's own transform does not reach.
 */
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

const options = {
  swcrc: false,
  jsc: {
    target: 'es2023',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    keepClassNames: true,
  },
  module: { type: 'nodenext' },
  sourceMaps: 'inline',
};

registerHooks({
  resolve(specifier, context, nextResolve) {
    const own = specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL;
    const source = own ? new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL) : undefined;
    return nextResolve(source && existsSync(source) ? source.href : specifier, context);
  },
  load(url, context, nextLoad) {
    if (!url.endsWith('.ts')) return nextLoad(url, context);
    const filename = fileURLToPath(url);
    const { code } = transformSync(readFileSync(filename, 'utf8'), { ...options, filename });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
