import { type EngineBase } from '@switchyard/engine-api/engine.js';
import { type TokenUsage, type Urgency } from '@switchyard/engine-api/text-embedder.js';
import { type GenerateCallFields } from '@switchyard/worker-protocol/generation.codec.js';
import { type GenerationActivity } from '@switchyard/worker-protocol/health.codec.js';
import { type GenerationHead } from '../../contracts/formats/generation-body.js';
import { DomainError } from '../../core/errors/domain-error.js';

/** A call as engines see it. `tokenize` and `detokenize` are answered with one chunk. */
export interface GenerateItem
  extends
    Omit<GenerateCallFields, 'priority' | 'group' | 'tenantWeight'>,
    Partial<Pick<GenerateCallFields, 'tenantWeight'>> {
  readonly priority: 'realtime' | 'batch';
  /**
   * Aged BATCH: its share of the turns while REALTIME waits as well (D-03); absent: it
   * is not aged.
   */
  readonly agingShare?: number | undefined;
  /** Class of the request (D-03). */
  readonly urgency?: Urgency;
  /** Milliseconds until its first output is late; absent: no such deadline. */
  readonly firstOutputMs?: number | undefined;
  /** Checked between steps; once aborted, nothing more is yielded. */
  readonly signal: AbortSignal;
}

/** An item of an engine that makes the text itself. */
export type TokenItem = GenerateItem & { readonly form: GenerationHead['form'] };

/** @throws DomainError `unsupported_task` for a form that is only passed on to servers */
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
      /** Why each choice ended, by index. */
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
  /** Absent for engines that do not batch by steps, and before loading. */
  readonly activity?: Readonly<GenerationActivity>;
  /**
   * Chunks, then exactly one done; a failure is thrown. The engine goes on no further
   * than a bounded number of chunks ahead of who asks for them, and returning early
   * (`return()`) ends the work like an abort.
   */
  generate(item: GenerateItem): AsyncIterable<GenerationEvent>;
}
