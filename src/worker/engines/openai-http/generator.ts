import { withJsonFields } from '../../../contracts/formats/json-fields.js';
import { DomainError } from '../../../core/shared/domain-error.js';
import { type RetryTiming } from '../../../platform/http/retry-timing.js';
import { cancelledError } from '../engine.js';
import { type GenerateItem, type GenerationEvent, type TextGenerator } from '../text-generator.js';
import { type OpenAiHttpOptions } from './options.js';
import { UpstreamEngine } from './upstream-engine.js';
import { textOf } from './upstream-exchange.js';
import { unusableAnswer, UpstreamFailure } from './upstream-failure.js';
import { UpstreamGeneration } from './upstream-generation.js';
import { UpstreamResponse } from './upstream-response.js';
import { type OpenAnswer } from './upstream.js';

/** No answer to one step of a generation is near this; what is larger is no event stream. */
const LONGEST_EVENT = 16_777_216;
const LINE_END = /\r\n|\n|\r/;

/**
 * The `data` of each server-sent event, in order. Takes what servers really send: pieces cut anywhere, also inside a
 * character or between CR and LF, any of the three line ends, comments, other fields, several data lines, a last event
 * without its blank line.
 *
 * @throws DomainError `engine_failed` for an event without end.
 */
export async function* eventData(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const event = new EventLines();
  let pending = '';
  for await (const piece of body) {
    pending += decoder.decode(piece, { stream: true });
    // A CR at the very end may be half of a CRLF.
    const held = pending.endsWith('\r') ? 1 : 0;
    const lines = pending.slice(0, pending.length - held).split(LINE_END);
    pending = (lines.pop() ?? '') + pending.slice(pending.length - held);
    for (const line of lines) {
      const data = event.take(line);
      if (data !== undefined) yield data;
    }
    if (pending.length + event.length > LONGEST_EVENT) throw endless();
  }
  for (const line of [...(pending + decoder.decode()).split(LINE_END), '']) {
    const data = event.take(line);
    if (data !== undefined) yield data;
  }
}

/** The lines of one event, until the blank one. */
class EventLines {
  #data: string[] = [];
  length = 0;

  /** @returns the data of the event that this line ends, if it has any. */
  take(line: string): string | undefined {
    if (line === '') return this.#end();
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    if (name !== 'data') return undefined;
    const value = colon < 0 ? '' : line.slice(colon + 1);
    this.#data.push(value.startsWith(' ') ? value.slice(1) : value);
    this.length += line.length;
    return undefined;
  }

  #end(): string | undefined {
    const data = this.#data.length > 0 ? this.#data.join('\n') : undefined;
    this.#data = [];
    this.length = 0;
    return data;
  }
}

const endless = (): DomainError =>
  new DomainError('engine_failed', `The upstream sent an event of more than ${LONGEST_EVENT} characters.`);

const PATHS = {
  ...{ chat: '/chat/completions', completion: '/completions', response: '/responses' },
  // vLLM and llama.cpp have them beside `/v1`.
  ...{ tokenize: '/../tokenize', detokenize: '/../detokenize' },
} as const;

/** A whole answer is one gRPC message in the end. */
const LARGEST_ANSWER_BYTES = 33_554_432;

/**
 * Generation at an OpenAI-compatible server. The body goes up as it came but for `model`, chunks come down as they are.
 */
export class OpenAiHttpGenerator extends UpstreamEngine implements TextGenerator {
  readonly kind = 'llm';

  constructor(options: OpenAiHttpOptions, timing?: RetryTiming) {
    super(options, ['chat', 'completions', 'tools', 'responses', 'logprobs'], timing);
  }

  async *generate(item: GenerateItem): AsyncGenerator<GenerationEvent> {
    try {
      const answer = await this.upstream.stream({
        path: PATHS[item.form],
        accept: item.stream ? 'text/event-stream' : 'application/json',
        body: {
          contentType: 'application/json',
          parts: [withJsonFields(item.body, { model: this.options.model })],
        },
        signal: item.signal,
      });
      try {
        yield* item.stream ? this.#chunks(item, answer) : this.#whole(item, answer);
      } finally {
        answer.close();
      }
    } catch (error) {
      if (item.signal.aborted) throw cancelledError(item.requestId);
      throw error instanceof UpstreamFailure ? error.error : error;
    }
  }

  /** Nothing is read ahead of who asks: a slow reader slows the upstream by TCP's own means. */
  async *#chunks(item: GenerateItem, { head, body }: OpenAnswer): AsyncGenerator<GenerationEvent> {
    const { modelId } = this.options;
    const type = head.headers['content-type'] ?? 'nothing';
    if (!type.includes('event-stream')) throw unusableAnswer(modelId, `answered a stream with ${type}.`);
    const generation = this.#reader(item);
    let ended = false;
    for await (const data of eventData(body)) {
      // Read to the end of the answer: its connection can be used again.
      if (ended) continue;
      ended = data.trim() === '[DONE]';
      if (!ended) yield generation.take(data);
    }
    // Some servers send no [DONE]; one that was cut off has not said why its choices ended either.
    if (!ended && !generation.complete)
      throw unusableAnswer(modelId, 'ended the stream before the answer was complete.');
    yield generation.done();
  }

  async *#whole(item: GenerateItem, { body }: OpenAnswer): AsyncGenerator<GenerationEvent> {
    const { modelId } = this.options;
    const json = await textOf(body, LARGEST_ANSWER_BYTES);
    if (json.length >= LARGEST_ANSWER_BYTES) throw unusableAnswer(modelId, 'sent an answer that is too large.');
    const generation = this.#reader(item);
    yield generation.take(json);
    yield generation.done();
  }

  #reader({ form, n }: GenerateItem): UpstreamGeneration | UpstreamResponse {
    const { modelId } = this.options;
    return form === 'response' ? new UpstreamResponse(modelId) : new UpstreamGeneration(modelId, n);
  }
}
