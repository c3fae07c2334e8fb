import { fileURLToPath } from 'node:url';
import { type ModelSpec } from '../../src/platform/config/model-spec.js';
import { modelSpec } from './pool-harness.js';

const SCRIPTED = fileURLToPath(new URL('./scripted-worker.mjs', import.meta.url));

/** What starts `scripted-worker.mjs`; `args` may say `--fault NAME`. */
export const scriptedCommand = (...args: readonly string[]): readonly string[] => [
  ...[process.execPath, SCRIPTED, '--model', '{model}', '--host', '{host}', '--port', '{port}'],
  ...args,
];

/** A model of engine `external` that is served by `scripted-worker.mjs`. */
export const externalModel = (
  args: readonly string[] = [],
  overrides: Partial<ModelSpec> = {},
): ModelSpec =>
  modelSpec({
    engine: 'external',
    replicas: 1,
    capabilities: ['transcribe', 'prompt'],
    command: scriptedCommand(...args),
    ...overrides,
  });
