import { type EngineModel } from '@switchyard/engine-api/engine-options.js';
import { LlamaBackend } from './backend.js';
import { LlamaEmbedder } from './embedder.js';
import { readLlamaEmbeddingOptions, readLlamaOptions } from './options.js';

/** The engine of a model in a GGUF file: text, or vectors. @throws EngineOptionsError */
export const createEngine = (model: EngineModel): LlamaBackend | LlamaEmbedder =>
  model.kind === 'embedding'
    ? new LlamaEmbedder(readLlamaEmbeddingOptions(model))
    : new LlamaBackend(readLlamaOptions(model));
