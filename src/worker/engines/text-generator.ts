import {
  type GenerationForm,
  type RequestForm,
} from '../../contracts/formats/generation-body.js';
import { type TokenUsage } from '@switchyard/engine-api/text-embedder.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type EngineBase } from '@switchyard/engine-api/engine.js';

/**
 * What the steps of continuous batching do now, and have done since the process began.
 */
export interface GenerationActivity {
  /** Sequences in the running set, and in the line before it. */
  readonly running: number;
  readonly waiting: number;
  /** Blocks of KV memory: free ones, and all. */
  readonly freeBlocks: number;
  readonly blocks: number;
  /** Tokens of a step at most, while a sequence decodes. */
  readonly stepTokens: number;
  /** Steps with work, and native decode calls: equal unless steps were repaired. */
  readonly steps: number;
  readonly decodeCalls: number;
  /** Times that a sequence lost its memory to another, or for being paused. */
  readonly preemptions: number;
  /** Tokens of prompts that were found computed. */
  readonly prefixHitTokens: number;
  /** Tokens that should have been found so, and were not. */
  readonly strandedTokens: number;
  /** Times that the backend died. */
  readonly losses: number;
}

export interface GenerateItem {
  readonly requestId: string;
  /**
   * Whose body it is: that of `/v1/chat/completions`, `/v1/completions`, `/v1/responses`,
   * `/tokenize` or `/detokenize`; the last two are answered with one chunk.
   */
  readonly form: RequestForm;
  /** The caller's JSON object, byte by byte; what follows is read from it. */
  readonly body: Buffer;
  /** OpenAI's chunks; else one chunk with the whole answer. */
  readonly stream: boolean;
  /** Tokens per choice; 0: the caller named no limit. */
  readonly maxTokens: number;
  /** Choices, 1 or more. */
  readonly n: number;
  readonly priority: 'realtime' | 'batch';
  /**
   * Aged BATCH: its share of the turns while REALTIME waits as well (D-03); absent: it
   * is not aged.
   */
  readonly agingShare?: number | undefined;
  /** Salt of what is kept between requests, such as cached prefixes. */
  readonly tenant: string;
  /** Share of the tenant beside others (D-25); absent: 1. */
  readonly tenantWeight?: number;
  /** W3C Trace Context of its caller, for a server that computes it; absent: none. */
  readonly traceparent?: string;
  /** Checked between steps; once aborted, nothing more is yielded. */
  readonly signal: AbortSignal;
}

/** An item of an engine that makes the text itself. */
export type TokenItem = GenerateItem & { readonly form: GenerationForm };

/** @throws DomainError `unsupported_task` for a form that is only handed on */
export function demandTokens(item: GenerateItem): TokenItem {
  const { form } = item;
  if (form === 'chat' || form === 'completion') return { ...item, form };
  const message =
    form === 'response' || form === 'message'
      ? `Only an upstream server takes the body of a ${form} as it is.`
      : 'This engine has no tokenizer to ask.';
  throw new DomainError('unsupported_task', message);
}

export type GenerationEvent =
  /**
   * One JSON object in OpenAI's form; `model` and `service_tier` in it are overwritten
   * by the gateway.
   */
  | { readonly type: 'chunk'; readonly json: string }
  | {
      readonly type: 'done';
      /** Absent: unknown. */
      readonly usage?: TokenUsage;
      /** In order of the choices' index. */
      readonly finishReasons: readonly string[];
      /** Milliseconds from the call to the first token; absent: unknown. */
      readonly firstTokenMs?: number;
    };

/**
 * Generation of text. Up to `info.maxConcurrent` run at a time; `info.maxBatch` is 1, as
 * no group is formed before the engine.
 */
export interface TextGenerator extends EngineBase {
  readonly kind: 'llm';
  /** Of engines that batch by steps, once loaded. */
  readonly activity?: GenerationActivity;
  /**
   * Chunks, then exactly one done; a failure is thrown. The engine goes on no further
   * than a bounded number of chunks ahead of who asks for them, and returning early
   * (`return()`) ends the work like an abort.
   */
  generate(item: GenerateItem): AsyncIterable<GenerationEvent>;
}
