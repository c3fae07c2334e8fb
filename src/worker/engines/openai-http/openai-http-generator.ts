import { withJsonFields } from '../../../contracts/formats/json-fields.js';
import { type RetryTiming } from '../../../platform/http/retry-timing.js';
import { type GenerateItem, type GenerationEvent, type TextGenerator } from '../engine.js';
import { cancelledError } from '../item-outcome.js';
import { eventData } from './event-data.js';
import { type OpenAiHttpOptions } from './openai-http-options.js';
import { type OpenAnswer } from './upstream.js';
import { textOf } from './upstream-answer.js';
import { UpstreamEngine } from './upstream-engine.js';
import { UpstreamFailure, unusableAnswer } from './upstream-failure.js';
import { UpstreamGeneration } from './upstream-generation.js';

const PATHS = { chat: '/chat/completions', completion: '/completions' } as const;

/** A whole answer is one gRPC message in the end. */
const LARGEST_ANSWER_BYTES = 33_554_432;

/** Generation at an OpenAI-compatible server. The body goes up as it came but for `model`, chunks come down as they are. */
export class OpenAiHttpGenerator extends UpstreamEngine implements TextGenerator {
  readonly kind = 'llm';

  constructor(options: OpenAiHttpOptions, timing?: RetryTiming) {
    super(options, ['chat', 'completions', 'tools', 'logprobs'], timing);
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
  async *#chunks({ n }: GenerateItem, { head, body }: OpenAnswer): AsyncGenerator<GenerationEvent> {
    const { modelId } = this.options;
    const type = head.headers['content-type'] ?? 'nothing';
    if (!type.includes('event-stream')) throw unusableAnswer(modelId, `answered a stream with ${type}.`);
    const generation = new UpstreamGeneration(modelId, n);
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

  async *#whole({ n }: GenerateItem, { body }: OpenAnswer): AsyncGenerator<GenerationEvent> {
    const { modelId } = this.options;
    const json = await textOf(body, LARGEST_ANSWER_BYTES);
    if (json.length >= LARGEST_ANSWER_BYTES) throw unusableAnswer(modelId, 'sent an answer that is too large.');
    const generation = new UpstreamGeneration(modelId, n);
    yield generation.take(json);
    yield generation.done();
  }
}
