import { type ModelSpec } from '../../../src/platform/config/model-spec.js';
import { syntheticModel } from '../../support/synthetic-model.js';

/**
 * Knows English only and can do nothing but transcribe: the shape of
 * the default recogniser.
 */
export function sttModel(overrides: Partial<ModelSpec> = {}): ModelSpec {
  return syntheticModel(
    {},
    {
      replicas: 0,
      id: 'stt',
      aliases: ['whisper-1'],
      capabilities: ['transcribe', 'word_timestamps'],
      languages: ['en'],
      ...overrides,
    },
  );
}

export function ttsModel(overrides: Partial<ModelSpec> = {}): ModelSpec {
  return syntheticModel(
    {},
    {
      replicas: 0,
      id: 'tts',
      kind: 'tts',
      aliases: ['tts-1'],
      capabilities: ['speech', 'speed'],
      languages: ['en'],
      voices: { alloy: 'rms', nova: 'slt' },
      ...overrides,
    },
  );
}
