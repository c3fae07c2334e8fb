import { createRequire } from 'node:module';
import { type EnginePackage } from '@switchyard/engine-api/engine-package.js';
import type * as Sherpa from '@switchyard/engine-sherpa/engine.js';

const load = createRequire(import.meta.url);

/** The package of each engine that is not built in. */
const PACKAGES = {
  pocketsphinx: 'engine-debian',
  flite: 'engine-debian',
  'sherpa-onnx': 'engine-sherpa',
  'llama-cpp': 'engine-llama-cpp',
} as const;

/** Loaded when a model asks for it: what an engine needs costs the others nothing. */
export const enginePackage = (engine: keyof typeof PACKAGES): EnginePackage =>
  load(`@switchyard/${PACKAGES[engine]}/engine.js`) as EnginePackage;

/** It also tells speakers apart and hears voice activity, for engines that do not. */
export const sherpaPackage = () =>
  load('@switchyard/engine-sherpa/engine.js') as typeof Sherpa;
