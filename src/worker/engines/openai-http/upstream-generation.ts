import { type Fields, isObject } from '@switchyard/engine-api/is-object.js';
import { type TokenUsage } from '@switchyard/engine-api/text-embedder.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type GenerateItem, type GenerationEvent } from '../text-generator.js';
import { problemIn, unusableAnswer } from './upstream-failure.js';

/** Of a response that has ended. */
const OVER: readonly unknown[] = ['completed', 'incomplete', 'failed', 'cancelled'];

/**
 * What passes through is looked at for three things only: errors, usage, and
 * why choices, or the one response, ended.
 */
export class UpstreamGeneration {
  readonly #reasons = new Map<number, string>();
  #usage: TokenUsage | undefined;

  constructor(
    private readonly modelId: string,
    /** `n`: choices that were asked for. */
    private readonly item: Pick<GenerateItem, 'form' | 'n'>,
  ) {}

  /** True once it is known of all why they ended. */
  get complete(): boolean {
    return this.#reasons.size >= (this.#isChoices ? this.item.n : 1);
  }

  /** @throws DomainError or UpstreamFailure when it is an error, or no JSON object. */
  take(json: string): GenerationEvent {
    const answer = answerIn(json, this.modelId);
    if (this.#isChoices) this.#takeChoices(answer, json);
    else if (this.item.form === 'response') this.#takeResponse(answer, json);
    else this.#takeMessage(answer, json);
    return { type: 'chunk', json };
  }

  done(): GenerationEvent {
    const reasons = [...this.#reasons]
      .sort(([a], [b]) => a - b)
      .map(([, reason]) => reason);
    return {
      type: 'done',
      finishReasons: !this.#isChoices && reasons.length === 0 ? [''] : reasons,
      usage: this.#usage,
    };
  }

  get #isChoices(): boolean {
    return this.item.form !== 'response' && this.item.form !== 'message';
  }

  #takeChoices({ error, choices, usage }: Fields, json: string): void {
    if (error !== undefined && error !== null) throw failureIn(json, this.modelId);
    for (const { index, finish_reason: reason } of Array.isArray(choices)
      ? (choices as readonly Fields[])
      : []) {
      if (typeof reason === 'string')
        this.#reasons.set(typeof index === 'number' ? index : 0, reason);
    }
    this.#usage = usageIn(usage) ?? this.#usage;
  }

  /** An event of `/v1/responses`, or a response as a whole. */
  #takeResponse(answer: Fields, json: string): void {
    const isWhole = answer.object === 'response';
    if (!isWhole && typeof answer.type !== 'string') throw failureIn(json, this.modelId);
    const { status, usage } = (isWhole ? answer : (answer.response ?? {})) as Fields;
    if (OVER.includes(status)) this.#reasons.set(0, String(status));
    this.#usage = usageIn(usage) ?? this.#usage;
  }

  /** An event of `/v1/messages`, or a message as a whole. */
  #takeMessage(answer: Fields, json: string): void {
    const { type, delta, message = answer } = answer;
    if (typeof type !== 'string' || type === 'error') throw failureIn(json, this.modelId);
    const { stop_reason: reason } = (delta ?? message) as Fields;
    if (typeof reason === 'string') this.#reasons.set(0, reason);
    const usage = (message as Fields).usage ?? answer.usage;
    if (isObject(usage)) this.#usage = usageOfMessage(usage, this.#usage);
  }
}

/** Its input counts what was read from the cache apart; a later event may leave it out. */
function usageOfMessage(usage: Fields, before: TokenUsage | undefined): TokenUsage {
  const cached = countIn(usage.cache_read_input_tokens);
  const read = countIn(usage.input_tokens) + countIn(usage.cache_creation_input_tokens);
  return {
    promptTokens: cached + read || (before?.promptTokens ?? 0),
    completionTokens: countIn(usage.output_tokens) || (before?.completionTokens ?? 0),
    cachedTokens: cached || (before?.cachedTokens ?? 0),
  };
}

/** @throws UpstreamFailure when it is no JSON object */
function answerIn(json: string, modelId: string): Fields {
  try {
    const answer: unknown = JSON.parse(json);
    if (isObject(answer)) return answer;
  } catch {
    // Said below.
  }
  throw unusableAnswer(modelId, 'sent something that is no JSON object.');
}

/** After the status of 200 an upstream can tell a failure in the answer only. */
function failureIn(json: string, modelId: string): DomainError {
  const { message } = problemIn(json, undefined);
  const said = message === '' ? '' : ` It says: ${message}`;
  return new DomainError(
    'engine_failed',
    `The upstream of model '${modelId}' failed.${said}`,
  );
}

/** Of any answer in OpenAI's form; those of responses have names of their own. */
export function usageIn(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const details = usage.prompt_tokens_details ?? usage.input_tokens_details ?? {};
  return {
    promptTokens: countIn(usage.prompt_tokens ?? usage.input_tokens),
    completionTokens: countIn(usage.completion_tokens ?? usage.output_tokens),
    cachedTokens: countIn((details as Fields).cached_tokens),
  };
}

const countIn = (value: unknown): number =>
  Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;
