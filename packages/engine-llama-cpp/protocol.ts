import { type Sampling, type ToolForm } from '@switchyard/engine-api/text-backend.port.js';

export const POOLINGS = ['model', 'mean', 'first', 'last', 'rank'] as const;

export interface EmbeddingInfo {
  readonly device: string;
  readonly revision: string;
  readonly dimensions: number;
  readonly vocabularySize: number;
  readonly trainedContextTokens: number;
  /**
   * A reranking model: a text is a query with a document, and its vector one number, from
   * 0 to 1.
   */
  readonly ranks: boolean;
}

export interface EmbeddingOperations {
  tokenize(texts: readonly string[]): readonly Int32Array[];
  /** Encodes a query with each document, for models that rank. */
  pairs(request: {
    readonly query: string;
    readonly documents: readonly string[];
  }): readonly Int32Array[];
  /** One native run. Vectors of length 1, or scores, one after another. */
  embed(request: {
    readonly run: number;
    readonly tokens: Int32Array;
    readonly counts: readonly number[];
  }): Promise<Float32Array>;
  /** As in `LlamaOperations`. */
  stop(newest: number): void;
}

/** Sent by the child once the model is loaded and warm. */
export interface ChildInfo {
  readonly device: string;
  readonly model: string;
  readonly revision: string;
  readonly chat: boolean;
  readonly toolForm: ToolForm;
  readonly thinks: boolean;
  /** False: memory of a sequence cannot be cut back, only emptied (recurrent models). */
  readonly cutsBack: boolean;
  /** Milliseconds, measured while warming up. */
  readonly costs: {
    /** Milliseconds to compute one token of a prompt. */
    readonly computeMs: number;
    /**
     * Of a copy of one sequence's memory to another, whatever its length: llama.cpp copies
     * the whole buffer.
     */
    readonly copyMs: number;
  };
}

/** What happens to KV memory before a step. */
export type SlotOperation =
  | { readonly type: 'cut'; readonly slot: number; readonly keep: number }
  | {
      readonly type: 'copy';
      readonly slot: number;
      readonly keep: number;
      readonly from: number;
    };

/**
 * In place of a token: the one that was drawn last in its slot. The step before draws it,
 * when it is not known yet what.
 */
export const AWAITED = 0xffffffff;

/**
 * One native decode: columns instead of objects, as it is sent for every token
 * of every answer.
 */
export interface StepFrame {
  /** Counted from 1 by the sender. */
  readonly run: number;
  /** It goes on from the frame before it: if that failed, this one is not run. */
  readonly follows: boolean;
  /** Carried out in this order. */
  readonly operations: readonly SlotOperation[];
  /** Sequences that are new in their slot, or return to it. */
  readonly begins: readonly {
    readonly slot: number;
    readonly sampling: WireSampling;
    /** Tokens of the answer so far: penalties and grammar go on from there. */
    readonly answer: Uint32Array;
  }[];
  /** Four numbers each: slot, position, count of tokens, 1 when the next token is drawn. */
  readonly items: Int32Array;
  /** Tokens of all items, one after another; `AWAITED` among them. */
  readonly tokens: Uint32Array;
}

/** `Sampling` as it crosses to the child: the grammar as GBNF text. */
export interface WireSampling extends Omit<Sampling, 'grammar'> {
  readonly grammar?: string;
}

export interface DrawnProbabilities {
  readonly logprob: number;
  /** Token ids, the likeliest first. */
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
}

export interface StepReply {
  /** Per item: the token drawn; -1: none was to be drawn, or its draw failed. */
  readonly drawn: Int32Array;
  /** Probabilities around the drawn token, by item; only of items that asked for them. */
  readonly probabilities?: ReadonlyMap<number, DrawnProbabilities>;
  /** Why the draw of an item failed, by index of the item. */
  readonly failures?: ReadonlyMap<number, string>;
  /** The native run as a whole failed; nothing was drawn. */
  readonly failure?: string;
  /** This frame was not run, because the frame before it failed. */
  readonly skipped?: true;
}

/** The calls that the child answers. */
export interface LlamaOperations {
  step(frame: StepFrame): Promise<StepReply>;
  /**
   * Nobody wants the results of the runs up to this one: they end early on the CPU, and fail.
   */
  stop(newest: number): void;
  /** @param prompt a `Prompt` as JSON, in which numbers keep their digits */
  encode(prompt: string): Uint32Array;
  /**
   * Writes a grammar as GBNF and compiles it, to refuse it early: neither holds up the
   * loop that answers health checks. @param grammar a `Grammar` as JSON, for the same reason
   */
  grammar(grammar: string): string;
  /** Text of all tokens, one after another; `ends[i]` is where token i ends. */
  vocabulary(request: undefined): {
    readonly bytes: Uint8Array;
    readonly ends: Uint32Array;
    /** Tokens that end an answer. */
    readonly endTokens: Uint32Array;
  };
}
