import { ANSWER_BOUNDS } from '@switchyard/engine-api/bounded-json.js';
import { cancelledError, KIND_CAPABILITIES } from '@switchyard/engine-api/engine.js';
import { type Fields, fieldsIn, isObject } from '@switchyard/engine-api/is-object.js';
import { jsonIn } from '@switchyard/engine-api/json-in.js';
import { type TokenUsage } from '@switchyard/engine-api/text-embedder.js';
import { valuesIn } from '../../../contracts/formats/json-fields.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type RetryTiming } from '../../../platform/http/retry-after.js';
import { type GenerateItem, type GenerationEvent, type TextGenerator } from '../text-generator.js';
import { EventTexts } from './event-texts.js';
import { type OpenAiHttpOptions } from './options.js';
import { toldOf } from './scheduler-words.js';
import { UpstreamEngine } from './upstream-engine.js';
import { jsonBody, textOf } from './upstream-exchange.js';
import { unusableAnswer, UpstreamFailure, problemIn } from './upstream-failure.js';

/** Statuses of a response that has ended. */
const OVER: readonly unknown[] = ['completed', 'incomplete', 'failed', 'cancelled'];

/**
 * What passes through is looked at for three things only: errors, usage, and
 * why choices, or the one response, ended.
 */
class UpstreamGeneration {
  /** Whether the last chunk held nothing but the count of tokens. */
  isCount = false;
  readonly #reasons = new Map<number, string>();
  #usage: TokenUsage | undefined;

  constructor(
    private readonly modelId: string,
    /** `n`: choices that were asked for. */
    private readonly item: Pick<GenerateItem, 'form' | 'n'>,
  ) {}

  /** True once the finish reason of every choice is known. */
  get complete(): boolean {
    return this.#reasons.size >= (this.#isChoices ? this.item.n : 1);
  }

  /** @throws DomainError or UpstreamFailure when it is an error, or no JSON object. */
  take(json: string): GenerationEvent {
    const answer = answerIn(json, this.modelId);
    this.isCount = isCountAlone(answer);
    if (this.#isChoices) this.#takeChoices(answer, json);
    else if (this.item.form === 'response') this.#takeResponse(answer, json);
    else this.#takeMessage(answer, json);
    return { type: 'chunk', json };
  }

  done(): GenerationEvent {
    const reasons = [...this.#reasons].sort(([a], [b]) => a - b).map(([, reason]) => reason);
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
    for (const choice of Array.isArray(choices) ? (choices as readonly unknown[]) : []) {
      if (!isObject(choice)) throw unusableAnswer(this.modelId, 'sent a choice that is no object.');
      const { index, finish_reason: reason } = choice;
      if (typeof reason === 'string')
        this.#reasons.set(typeof index === 'number' ? index : 0, reason);
    }
    this.#usage = usageIn(usage) ?? this.#usage;
  }

  /** An event of `/v1/responses`, or a response as a whole. */
  #takeResponse(answer: Fields, json: string): void {
    const isWhole = answer.object === 'response';
    if (!isWhole && typeof answer.type !== 'string') throw failureIn(json, this.modelId);
    const { status, usage } = isWhole ? answer : fieldsIn(answer.response);
    if (OVER.includes(status)) this.#reasons.set(0, String(status));
    this.#usage = usageIn(usage) ?? this.#usage;
  }

  /** An event of `/v1/messages`, or a message as a whole. */
  #takeMessage(answer: Fields, json: string): void {
    const { type, delta, message = answer } = answer;
    if (typeof type !== 'string' || type === 'error') throw failureIn(json, this.modelId);
    const { stop_reason: reason } = fieldsIn(delta ?? message);
    if (typeof reason === 'string') this.#reasons.set(0, reason);
    const usage = fieldsIn(message).usage ?? answer.usage;
    if (isObject(usage)) this.#usage = usageOfMessage(usage, this.#usage);
  }
}

const isCountAlone = ({ choices, usage }: Fields): boolean =>
  isObject(usage) && Array.isArray(choices) && choices.length === 0;

/** Its input counts what was read from the cache apart; a later event may leave it out. */
function usageOfMessage(usage: Fields, before: TokenUsage | undefined): TokenUsage {
  const cached = numberIn(usage.cache_read_input_tokens);
  const read = numberIn(usage.input_tokens) + numberIn(usage.cache_creation_input_tokens);
  return {
    promptTokens: cached + read || (before?.promptTokens ?? 0),
    completionTokens: numberIn(usage.output_tokens) || (before?.completionTokens ?? 0),
    cachedTokens: cached || (before?.cachedTokens ?? 0),
  };
}

/** @throws UpstreamFailure when it is no JSON object */
function answerIn(json: string, modelId: string): Fields {
  const answer = jsonIn(json, ANSWER_BOUNDS);
  if (isObject(answer)) return answer;
  throw unusableAnswer(modelId, 'sent something that is no JSON object.');
}

/** After the status of 200 an upstream can tell a failure in the answer only. */
function failureIn(json: string, modelId: string): DomainError {
  const { message } = problemIn(json, undefined);
  const said = message === '' ? '' : ` It says: ${message}`;
  return new DomainError('engine_failed', `The upstream of model '${modelId}' failed.${said}`);
}

/** Of any answer in OpenAI's form; those of responses have names of their own. */
export function usageIn(usage: unknown): TokenUsage | undefined {
  if (!isObject(usage)) return undefined;
  const details = fieldsIn(usage.prompt_tokens_details ?? usage.input_tokens_details);
  return {
    promptTokens: numberIn(usage.prompt_tokens ?? usage.input_tokens),
    completionTokens: numberIn(usage.completion_tokens ?? usage.output_tokens),
    cachedTokens: numberIn(details.cached_tokens),
  };
}

const numberIn = (value: unknown): number =>
  Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0;

/**
 * Whether the caller of a stream wants the tokens counted, and what else the server is asked
 * for: usage and limits need the count in any case.
 */
function countIn({ form, stream, body }: GenerateItem) {
  const isChoices = form === 'chat' || form === 'completion';
  const options = stream && isChoices ? valuesIn(body, ['stream_options']) : undefined;
  const given = fieldsIn(options?.stream_options);
  if (!options || given.include_usage === true) return { isWanted: true };
  return { isWanted: false, fields: { stream_options: { ...given, include_usage: true } } };
}

/** A whole answer is one gRPC message in the end. */
const LARGEST_ANSWER_BYTES = 33_554_432;

const PATHS = {
  chat: '/chat/completions',
  completion: '/completions',
  response: '/responses',
  message: '/messages',
  // vLLM and llama.cpp have them beside `/v1`.
  tokenize: '/../tokenize',
  detokenize: '/../detokenize',
} as const;

/**
 * Generation at an OpenAI-compatible server. The body goes up as it came but for `model`,
 * chunks come down as they are.
 */
export class OpenAiHttpGenerator extends UpstreamEngine implements TextGenerator {
  readonly kind = 'llm';

  constructor(options: OpenAiHttpOptions, timing?: RetryTiming) {
    super(options, KIND_CAPABILITIES.llm, timing);
  }

  /**
   * Nothing is read ahead of who asks: a slow reader slows the upstream by
   * TCP's own means.
   */
  async *generate(item: GenerateItem): AsyncGenerator<GenerationEvent> {
    const { modelId, model, scheduler } = this.options;
    // Nothing of these waits for a device.
    const queue = item.form.endsWith('tokenize') ? 'none' : scheduler;
    try {
      const { isWanted, fields } = countIn(item);
      const sent = { body: item.body, fields: { model, ...fields } };
      const { body, headers } = toldOf(queue, item, sent);
      using answer = await this.stream({
        path: PATHS[item.form],
        accept: item.stream ? 'text/event-stream' : 'application/json',
        headers,
        body: jsonBody(body),
        signal: item.signal,
        traceparent: item.traceparent,
      });
      const generation = new UpstreamGeneration(modelId, item);
      if (item.stream) yield* this.#streamed(generation, answer, isWanted);
      else yield generation.take(await this.#whole(answer.body));
      yield generation.done();
    } catch (error) {
      if (item.signal.aborted) throw cancelledError(item.requestId);
      throw error instanceof UpstreamFailure ? error.error : error;
    }
  }

  async *#streamed(
    generation: UpstreamGeneration,
    { head, body }: Awaited<ReturnType<UpstreamEngine['stream']>>,
    isCountWanted: boolean,
  ): AsyncGenerator<GenerationEvent> {
    const texts = this.#textsOf(head.headers['content-type']);
    const wanted = function* (events: readonly string[]) {
      for (const json of events) {
        const event = generation.take(json);
        if (isCountWanted || !generation.isCount) yield event;
      }
    };
    // Read to the end of the answer: its connection can be used again.
    for await (const piece of body) yield* wanted(texts.take(piece));
    yield* wanted(texts.end());
    this.#demandEnd(texts.complete || generation.complete);
  }

  /**
   * Some servers send no [DONE]; one that was cut off has not said why its choices ended
   * either.
   */
  #demandEnd(isComplete: boolean): void {
    if (isComplete) return;
    throw unusableAnswer(this.options.modelId, 'ended the stream before the answer was complete.');
  }

  #textsOf(type = 'nothing'): EventTexts {
    if (type.includes('event-stream')) return new EventTexts();
    throw unusableAnswer(this.options.modelId, `answered a stream with ${type}.`);
  }

  async #whole(body: AsyncIterable<Buffer>): Promise<string> {
    const text = await textOf(body, LARGEST_ANSWER_BYTES);
    if (Buffer.byteLength(text) < LARGEST_ANSWER_BYTES) return text;
    throw unusableAnswer(this.options.modelId, 'sent an answer that is too large.');
  }
}
