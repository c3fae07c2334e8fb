import { type EngineBase, type ItemOutcome } from './engine.js';

/** Class of a request; aged BATCH stands between the two (D-03). */
export type Urgency = 'realtime' | 'aged' | 'batch';

/** Tokens of a text request, as its engine counted them. */
export interface TokenUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Part of `promptTokens` that was not computed again. */
  readonly cachedTokens: number;
}

export interface EmbedItem {
  readonly requestId: string;
  /**
   * Absent: the body asks for embeddings. `rerank`: each vector is the score
   * of a document.
   */
  readonly form?: 'rerank';
  /** The caller's JSON object of `/v1/embeddings` or `/v1/rerank`, byte by byte. */
  readonly body: Buffer;
  /** Vectors the answer must hold. */
  readonly inputs: number;
  readonly tenant: string;
  /** Its class, for a server with a queue of its own; absent: that server is told none. */
  readonly urgency?: Urgency;
  readonly signal: AbortSignal;
}

export interface Embedding {
  /** One vector per input, one after another. */
  readonly vectors: Float32Array;
  /** Length of one vector. */
  readonly dimensions: number;
  readonly usage?: TokenUsage;
}

/**
 * Embedding. `embed` is one engine call for the whole group; it answers per item, in
 * order, and never rejects.
 */
export interface TextEmbedder extends EngineBase {
  readonly kind: 'embedding';
  embed(batch: readonly EmbedItem[]): Promise<readonly ItemOutcome<Embedding>[]>;
}
