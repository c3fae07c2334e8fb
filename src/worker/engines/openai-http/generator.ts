import { withJsonFields } from '../../../contracts/formats/json-fields.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type RetryTiming } from '../../../platform/http/retry-timing.js';
import { cancelledError } from '@switchyard/engine-api/engine.js';
import {
  type GenerateItem,
  type GenerationEvent,
  type TextGenerator,
} from '../text-generator.js';
import { type OpenAiHttpOptions } from './options.js';
import { UpstreamEngine } from './upstream-engine.js';
import { unusableAnswer, UpstreamFailure } from './upstream-failure.js';
import { UpstreamGeneration } from './upstream-generation.js';
import { UpstreamResponse } from './upstream-response.js';
import { type OpenAnswer, type UpstreamRequest } from './upstream.js';

/**
 * No answer to one step of a generation is near this; what is larger is no event stream.
 */
const LONGEST_EVENT = 16_777_216;
const LINE_END = /\r\n|\n|\r/;

/** The JSON texts that an answer consists of. */
interface AnswerTexts {
  /** False while more has to come. */
  readonly complete: boolean;
  /** @throws DomainError or UpstreamFailure for more than is bearable */
  take(piece: Buffer): readonly string[];
  end(): readonly string[];
}

/**
 * The `data` of each server-sent event, in order, up to `[DONE]`. Takes what servers
 * really send: pieces cut anywhere, also inside a character or between CR and LF, any of
 * the three line ends, comments, other fields, several data lines, a last event without
 * its blank line.
 */
export class EventTexts implements AnswerTexts {
  complete = false;
  readonly #decoder = new TextDecoder();
  #pending = '';
  /** Lines of the event that has not ended. */
  #data: string[] = [];
  #length = 0;

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

/** A whole answer is one gRPC message in the end. */
const LARGEST_ANSWER_BYTES = 33_554_432;

class WholeText implements AnswerTexts {
  readonly complete = true;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(private readonly modelId: string) {}

  take(piece: Buffer): readonly string[] {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes >= LARGEST_ANSWER_BYTES)
      throw unusableAnswer(this.modelId, 'sent an answer that is too large.');
    return [];
  }

  end(): readonly string[] {
    return [Buffer.concat(this.#pieces).toString('utf8')];
  }
}

const PATHS = {
  ...{ chat: '/chat/completions', completion: '/completions', response: '/responses' },
  // vLLM and llama.cpp have them beside `/v1`.
  ...{ tokenize: '/../tokenize', detokenize: '/../detokenize' },
} as const;

/**
 * Generation at an OpenAI-compatible server. The body goes up as it came but for `model`,
 * chunks come down as they are.
 */
export class OpenAiHttpGenerator extends UpstreamEngine implements TextGenerator {
  readonly kind = 'llm';

  constructor(options: OpenAiHttpOptions, timing?: RetryTiming) {
    super(options, ['chat', 'completions', 'tools', 'responses', 'logprobs'], timing);
  }

  /**
   * Nothing is read ahead of who asks: a slow reader slows the upstream by
   * TCP's own means.
   */
  async *generate(item: GenerateItem): AsyncGenerator<GenerationEvent> {
    const { modelId } = this.options;
    try {
      using answer = await this.upstream.stream(this.#requestOf(item));
      const texts = this.#textsOf(item, answer);
      const generation = this.#reader(item);
      // Read to the end of the answer: its connection can be used again.
      for await (const piece of answer.body)
        for (const json of texts.take(piece)) yield generation.take(json);
      for (const json of texts.end()) yield generation.take(json);
      // Some servers send no [DONE]; one that was cut off has not said why its
      // choices ended either.
      if (!texts.complete && !generation.complete)
        throw unusableAnswer(modelId, 'ended the stream before the answer was complete.');
      yield generation.done();
    } catch (error) {
      if (item.signal.aborted) throw cancelledError(item.requestId);
      throw error instanceof UpstreamFailure ? error.error : error;
    }
  }

  #requestOf({ form, stream, body, signal, traceparent }: GenerateItem): UpstreamRequest {
    return {
      path: PATHS[form],
      accept: stream ? 'text/event-stream' : 'application/json',
      body: {
        contentType: 'application/json',
        parts: [withJsonFields(body, { model: this.options.model })],
      },
      signal,
      traceparent,
    };
  }

  #textsOf({ stream }: GenerateItem, { head }: OpenAnswer): AnswerTexts {
    const { modelId } = this.options;
    if (!stream) return new WholeText(modelId);
    const type = head.headers['content-type'] ?? 'nothing';
    if (!type.includes('event-stream'))
      throw unusableAnswer(modelId, `answered a stream with ${type}.`);
    return new EventTexts();
  }

  #reader({ form, n }: GenerateItem): UpstreamGeneration | UpstreamResponse {
    const { modelId } = this.options;
    return form === 'response'
      ? new UpstreamResponse(modelId)
      : new UpstreamGeneration(modelId, n);
  }
}
