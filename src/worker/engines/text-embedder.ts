import { type EngineBase, type ItemOutcome } from './engine.js';
import { type TokenUsage } from '../../contracts/formats/usage.js';

export interface EmbedItem {
  readonly requestId: string;
  /** The caller's JSON object of `/v1/embeddings`, byte by byte. */
  readonly body: Buffer;
  /** Vectors the answer must hold. */
  readonly inputs: number;
  readonly tenant: string;
  readonly signal: AbortSignal;
}

export interface Embedding {
  /** One vector per input, one after another. */
  readonly vectors: Float32Array;
  /** Length of one vector. */
  readonly dimensions: number;
  readonly usage?: TokenUsage;
}

/** Embedding. `embed` is one engine call for the whole group; it answers per item, in order, and never rejects. */
export interface TextEmbedder extends EngineBase {
  readonly kind: 'embedding';
  embed(batch: readonly EmbedItem[]): Promise<readonly ItemOutcome<Embedding>[]>;
}
