/** `@jest/globals` of specs that plain Node loads. */
import { registerHooks } from 'node:module';

const globals = new URL('./globals.mjs', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === '@jest/globals'
      ? { url: globals, shortCircuit: true }
      : nextResolve(specifier, context),
});
