import { type TokenUsage } from '@switchyard/engine-api/token-usage.js';
import { type GenerationEvent } from '../text-generator.js';
import { answerIn, failureIn, usageIn } from './upstream-generation.js';

interface Answer {
  readonly type?: unknown;
  readonly object?: unknown;
  readonly response?: ResponseFields | null;
  readonly error?: unknown;
}

interface ResponseFields {
  readonly status?: unknown;
  readonly usage?: unknown;
}

const OVER: readonly unknown[] = ['completed', 'incomplete', 'failed', 'cancelled'];

/**
 * Events of `/v1/responses`, or a response as a whole: looked at for its end
 * and usage only.
 */
export class UpstreamResponse {
  #status: string | undefined;
  #usage: TokenUsage | undefined;

  constructor(private readonly modelId: string) {}

  get complete(): boolean {
    return this.#status !== undefined;
  }

  /** @throws DomainError or UpstreamFailure when it is no response and no event */
  take(json: string): GenerationEvent {
    const answer = answerIn<Answer>(json, this.modelId);
    const isResponse = answer.object === 'response';
    if (!isResponse && typeof answer.type !== 'string')
      throw failureIn(json, this.modelId);
    const { status, usage } = (
      isResponse ? answer : (answer.response ?? {})
    ) as ResponseFields;
    if (OVER.includes(status)) this.#status = String(status);
    this.#usage = countedIn(usage) ?? this.#usage;
    return { type: 'chunk', json };
  }

  done(): GenerationEvent {
    return {
      type: 'done',
      finishReasons: [this.#status ?? ''],
      ...(this.#usage && { usage: this.#usage }),
    };
  }
}

function countedIn(value: unknown): TokenUsage | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { input_tokens, output_tokens, input_tokens_details } = value as Record<
    string,
    unknown
  >;
  const named = { prompt_tokens: input_tokens, completion_tokens: output_tokens };
  return usageIn({ ...named, prompt_tokens_details: input_tokens_details });
}
