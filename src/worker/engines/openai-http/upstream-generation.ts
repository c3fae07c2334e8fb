import { DomainError } from '../../../core/errors/domain-error.js';
import { type TokenUsage } from '@switchyard/engine-api/token-usage.js';
import { type GenerationEvent } from '../text-generator.js';
import { problemIn, unusableAnswer } from './upstream-failure.js';

interface Choice {
  readonly index?: unknown;
  readonly finish_reason?: unknown;
}

interface Answer {
  readonly choices?: unknown;
  readonly usage?: unknown;
  readonly error?: unknown;
}

/**
 * What passes through is looked at for three things only: errors, usage, and
 * why choices ended.
 */
export class UpstreamGeneration {
  readonly #reasons = new Map<number, string>();
  #usage: TokenUsage | undefined;

  constructor(
    private readonly modelId: string,
    /** Choices that were asked for. */
    private readonly n: number,
  ) {}

  /** True once every choice has said why it ended. */
  get complete(): boolean {
    return this.#reasons.size >= this.n;
  }

  /** @throws DomainError or UpstreamFailure when it is an error, or no JSON object. */
  take(json: string): GenerationEvent {
    const answer = answerIn<Answer>(json, this.modelId);
    if (answer.error !== undefined && answer.error !== null)
      throw failureIn(json, this.modelId);
    const choices = Array.isArray(answer.choices)
      ? (answer.choices as readonly Choice[])
      : [];
    for (const { index, finish_reason: reason } of choices) {
      if (typeof reason === 'string')
        this.#reasons.set(typeof index === 'number' ? index : 0, reason);
    }
    this.#usage = usageIn(answer.usage) ?? this.#usage;
    return { type: 'chunk', json };
  }

  done(): GenerationEvent {
    const reasons = [...this.#reasons]
      .sort(([a], [b]) => a - b)
      .map(([, reason]) => reason);
    return {
      type: 'done',
      finishReasons: reasons,
      ...(this.#usage && { usage: this.#usage }),
    };
  }
}

/** @throws UpstreamFailure when it is no JSON object */
export function answerIn<T extends object>(json: string, modelId: string): T {
  try {
    const answer: unknown = JSON.parse(json);
    if (typeof answer === 'object' && answer !== null && !Array.isArray(answer))
      return answer as T;
  } catch {
    // Said below.
  }
  throw unusableAnswer(modelId, 'sent something that is no JSON object.');
}

/** After the status of 200 an upstream can tell a failure in the answer only. */
export function failureIn(json: string, modelId: string): DomainError {
  const { message } = problemIn(json, undefined);
  const said = message === '' ? '' : ` It says: ${message}`;
  return new DomainError(
    'engine_failed',
    `The upstream of model '${modelId}' failed.${said}`,
  );
}

/** Of any answer in OpenAI's form. */
export function usageIn(value: unknown): TokenUsage | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const usage = value as Record<string, unknown>;
  const details = (usage.prompt_tokens_details ?? {}) as Record<string, unknown>;
  return {
    promptTokens: countIn(usage.prompt_tokens),
    completionTokens: countIn(usage.completion_tokens),
    cachedTokens: countIn(details.cached_tokens),
  };
}

const countIn = (value: unknown): number =>
  Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;
