import { type ModelSpec } from '../../../platform/config/model-spec.js';
import { ContinuousGenerator } from '../../generation/continuous-generator.js';
import { type WorkerEngine } from '../engine.js';
import { LlamaBackend } from './llama-backend.js';
import { LlamaEmbedder } from './llama-embedder.js';
import { readLlamaEmbeddingOptions } from './llama-embedding-options.js';
import { readLlamaOptions } from './llama-options.js';

/** The engine of a model in a GGUF file: text, or vectors. Throws EngineOptionsError. */
export function llamaEngine(spec: ModelSpec): WorkerEngine {
  if (spec.kind === 'embedding') return new LlamaEmbedder(readLlamaEmbeddingOptions(spec));
  const options = readLlamaOptions(spec);
  const { stepTargetMs } = options;
  return new ContinuousGenerator({
    ...{ backend: new LlamaBackend(options), engine: 'llama-cpp' },
    ...(stepTargetMs !== undefined && { stepTargetMs }),
  });
}
