import { type ModelSpec } from '../../../platform/config/model-spec.js';
import { EngineOptions } from '../engine-options.js';
import { type Pooling, POOLINGS } from './embedding-protocol.js';
import { type LlamaOptions, readShared } from './llama-options.js';

export interface LlamaEmbeddingOptions extends Omit<LlamaOptions, 'rows' | 'stepTokens' | 'contextTokens'> {
  /** Tokens of one native run; no text may be longer. */
  readonly batchTokens: number;
  /** Texts in one native run. */
  readonly batchTexts: number;
  /** Requests in one engine call. */
  readonly maxBatch: number;
  readonly pooling: Pooling;
  /** `dimensions` may be asked for: the model was trained for it (Matryoshka). */
  readonly shortenable: boolean;
}

/** Of a model of kind embedding. Throws EngineOptionsError. */
export function readLlamaEmbeddingOptions(spec: ModelSpec): LlamaEmbeddingOptions {
  const options = new EngineOptions(spec);
  const pooling = options.raw('pooling') ?? 'model';
  const known = POOLINGS.find(name => name === pooling);
  if (known === undefined) options.reject('pooling', pooling, POOLINGS.join(', '));
  const shortenable = options.raw('shortenable') ?? false;
  if (typeof shortenable !== 'boolean') options.reject('shortenable', shortenable, 'true or false');
  const read: LlamaEmbeddingOptions = {
    ...readShared(options),
    batchTokens: options.integer('batchTokens', { min: 16, max: 65_536, fallback: 2048 }),
    batchTexts: options.integer('batchTexts', { min: 1, max: 256, fallback: 32 }),
    maxBatch: options.integer('maxBatch', { min: 1, max: 256, fallback: 16 }),
    pooling: known ?? 'model',
    shortenable: shortenable === true,
  };
  options.done();
  return read;
}
