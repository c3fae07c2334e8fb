import { type ChildSettings } from './llama-protocol.js';

export const POOLINGS = ['model', 'mean', 'first', 'last'] as const;
/** How the vector of a text comes from those of its tokens; `model`: as the file says. */
export type Pooling = (typeof POOLINGS)[number];

export interface EmbeddingSettings extends Pick<ChildSettings, 'modelFile' | 'device' | 'gpuLayers' | 'threads'> {
  /** Tokens of one native run. */
  readonly batchTokens: number;
  /** Texts in one native run. */
  readonly batchTexts: number;
  readonly pooling: Pooling;
}

export interface EmbeddingInfo {
  readonly device: string;
  readonly revision: string;
  readonly dimensions: number;
  readonly vocabularySize: number;
  readonly trainedContextTokens: number;
}

export interface EmbeddingOperations {
  readonly tokenize: { readonly request: readonly string[]; readonly reply: readonly Int32Array[] };
  /** One native run. Vectors of length 1, one after another. */
  readonly embed: {
    readonly request: { readonly tokens: Int32Array; readonly counts: readonly number[] };
    readonly reply: Float32Array;
  };
}
