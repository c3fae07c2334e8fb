import { withJsonFields } from '../../../contracts/formats/json-fields.js';
import { type RetryTiming } from '../../../platform/http/retry-timing.js';
import { type EmbedItem, type Embedding, type ItemOutcome, type TextEmbedder } from '../engine.js';
import { cancelledError, failed, succeeded } from '../item-outcome.js';
import { type OpenAiHttpOptions } from './openai-http-options.js';
import { textOf } from './upstream-answer.js';
import { embeddingIn } from './upstream-embedding.js';
import { UpstreamEngine } from './upstream-engine.js';

/** 2048 inputs of 4096 numbers, written out in decimal. */
const LARGEST_ANSWER_BYTES = 268_435_456;

/** Embeddings of an OpenAI-compatible server, in the encoding that the caller asked for. */
export class OpenAiHttpEmbedder extends UpstreamEngine implements TextEmbedder {
  readonly kind = 'embedding';

  constructor(options: OpenAiHttpOptions, timing?: RetryTiming) {
    super(options, ['embeddings', 'dimensions'], timing);
  }

  embed(batch: readonly EmbedItem[]): Promise<readonly ItemOutcome<Embedding>[]> {
    return Promise.all(batch.map(item => this.#outcome(item)));
  }

  async #outcome(item: EmbedItem): Promise<ItemOutcome<Embedding>> {
    try {
      item.signal.throwIfAborted();
      return succeeded(await this.#ask(item));
    } catch (error) {
      return failed(item.signal.aborted ? cancelledError(item.requestId) : error);
    }
  }

  #ask({ body, inputs, signal }: EmbedItem): Promise<Embedding> {
    const { model, modelId } = this.options;
    return this.upstream.call({
      path: '/embeddings',
      accept: 'application/json',
      body: { contentType: 'application/json', parts: [withJsonFields(body, { model })] },
      signal,
      read: async answer => embeddingIn(await textOf(answer, LARGEST_ANSWER_BYTES), { modelId, inputs }),
    });
  }
}
