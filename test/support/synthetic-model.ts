import { type ModelSpec } from '../../src/platform/config/model-spec.js';

/**
 * A model of the scripted engine; `options` are the engine's own
 * (src/worker/engines/README.md).
 */
export function syntheticModel(
  options: Record<string, unknown>,
  spec: Partial<ModelSpec> = {},
): ModelSpec {
  return {
    id: 'synthetic',
    kind: 'stt',
    engine: 'synthetic',
    aliases: [],
    capabilities: ['transcribe'],
    languages: [],
    replicas: 1,
    addresses: [],
    voices: {},
    options,
    ...spec,
  };
}
