import { withJsonFields } from '../../../contracts/formats/json-fields.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type RetryTiming } from '../../../platform/http/retry-after.js';
import { cancelledError, KIND_CAPABILITIES } from '@switchyard/engine-api/engine.js';
import {
  type GenerateItem,
  type GenerationEvent,
  type TextGenerator,
} from '../text-generator.js';
import { type OpenAiHttpOptions } from './options.js';
import { UpstreamEngine } from './upstream-engine.js';
import { unusableAnswer, UpstreamFailure } from './upstream-failure.js';
import { UpstreamGeneration } from './upstream-generation.js';
import { jsonBody, textOf } from './upstream-exchange.js';
import { type OpenAnswer } from './upstream.js';

/** A whole answer is one gRPC message in the end. */
const LARGEST_ANSWER_BYTES = 33_554_432;
/**
 * No answer to one step of a generation is near this; what is larger is no event stream.
 */
const LONGEST_EVENT = 16_777_216;
const LINE_END = /\r\n|\n|\r/;

/**
 * The `data` of each server-sent event, in order, up to `[DONE]`. Takes what servers
 * really send: pieces cut anywhere, also inside a character or between CR and LF, any of
 * the three line ends, comments, other fields, several data lines, a last event without
 * its blank line.
 */
export class EventTexts {
  /** False while more has to come. */
  complete = false;
  readonly #decoder = new TextDecoder();
  #pending = '';
  /** Lines of the event that has not ended. */
  #data: string[] = [];
  #length = 0;

  /** @throws DomainError for an event that is more than bearable */
  take(piece: Buffer): readonly string[] {
    const text = this.#pending + this.#decoder.decode(piece, { stream: true });
    // A CR at the very end may be half of a CRLF.
    const held = text.endsWith('\r') ? 1 : 0;
    const lines = text.slice(0, text.length - held).split(LINE_END);
    this.#pending = (lines.pop() ?? '') + text.slice(text.length - held);
    const texts = this.#read(lines);
    if (this.#pending.length + this.#length > LONGEST_EVENT) throw endless();
    return texts;
  }

  end(): readonly string[] {
    return this.#read([...(this.#pending + this.#decoder.decode()).split(LINE_END), '']);
  }

  #read(lines: readonly string[]): readonly string[] {
    const texts: string[] = [];
    for (const line of lines) {
      if (line !== '') this.#add(line);
      else if (this.#data.length > 0) texts.push(...this.#event());
    }
    return texts;
  }

  #add(line: string): void {
    const colon = line.indexOf(':');
    if ((colon < 0 ? line : line.slice(0, colon)) !== 'data') return;
    const value = colon < 0 ? '' : line.slice(colon + 1);
    this.#data.push(value.startsWith(' ') ? value.slice(1) : value);
    this.#length += line.length;
  }

  #event(): readonly string[] {
    const data = this.#data.join('\n');
    this.#data = [];
    this.#length = 0;
    this.complete ||= data.trim() === '[DONE]';
    return this.complete ? [] : [data];
  }
}

const endless = (): DomainError =>
  new DomainError(
    'engine_failed',
    `The upstream sent an event of more than ${LONGEST_EVENT} characters.`,
  );

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
    const { modelId, model } = this.options;
    try {
      using answer = await this.upstream.stream({
        path: PATHS[item.form],
        accept: item.stream ? 'text/event-stream' : 'application/json',
        body: jsonBody(withJsonFields(item.body, { model })),
        signal: item.signal,
        traceparent: item.traceparent,
      });
      const generation = new UpstreamGeneration(modelId, item);
      if (item.stream) {
        const texts = this.#textsOf(answer);
        // Read to the end of the answer: its connection can be used again.
        for await (const piece of answer.body)
          for (const json of texts.take(piece)) yield generation.take(json);
        for (const json of texts.end()) yield generation.take(json);
        this.#demandEnd(texts.complete || generation.complete);
      } else yield generation.take(await this.#whole(answer));
      yield generation.done();
    } catch (error) {
      if (item.signal.aborted) throw cancelledError(item.requestId);
      throw error instanceof UpstreamFailure ? error.error : error;
    }
  }

  /**
   * Some servers send no [DONE]; one that was cut off has not said why its choices ended
   * either.
   */
  #demandEnd(isComplete: boolean): void {
    if (isComplete) return;
    throw unusableAnswer(
      this.options.modelId,
      'ended the stream before the answer was complete.',
    );
  }

  #textsOf({ head }: OpenAnswer): EventTexts {
    const type = head.headers['content-type'] ?? 'nothing';
    if (type.includes('event-stream')) return new EventTexts();
    throw unusableAnswer(this.options.modelId, `answered a stream with ${type}.`);
  }

  async #whole({ body }: OpenAnswer): Promise<string> {
    const text = await textOf(body, LARGEST_ANSWER_BYTES);
    if (Buffer.byteLength(text) < LARGEST_ANSWER_BYTES) return text;
    throw unusableAnswer(this.options.modelId, 'sent an answer that is too large.');
  }
}
