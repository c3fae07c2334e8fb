import { VECTOR_BOUNDS } from '@switchyard/engine-api/bounded-json.js';
import { type ItemOutcome } from '@switchyard/engine-api/engine.js';
import { type Fields, fieldsIn } from '@switchyard/engine-api/is-object.js';
import { jsonIn } from '@switchyard/engine-api/json-in.js';
import {
  type Embedding,
  type EmbedItem,
  type TextEmbedder,
} from '@switchyard/engine-api/text-embedder.js';
import { type RetryTiming } from '../../../platform/http/retry-after.js';
import { usageIn } from './generator.js';
import { type OpenAiHttpOptions } from './options.js';
import { toldOf } from './scheduler-words.js';
import { UpstreamEngine } from './upstream-engine.js';
import { jsonBody, textOf } from './upstream-exchange.js';
import { unusableAnswer } from './upstream-failure.js';

/**
 * Reads OpenAI's list of vectors, numbers or base64, in whatever order.
 * @param inputs vectors that were asked for
 * @throws UpstreamFailure when it is not what was asked for.
 */
function embeddingIn({ data }: Fields, modelId: string, inputs: number): Embedding {
  if (!Array.isArray(data)) throw unusableAnswer(modelId, 'sent an answer without `data`.');
  const place = ({ index }: Fields): number => (typeof index === 'number' ? index : 0);
  const vectors = data
    .map(fieldsIn)
    .toSorted((a, b) => place(a) - place(b))
    .map(({ embedding }) => vectorIn(embedding, modelId));
  const dimensions = vectors[0]?.length ?? 0;
  if (
    vectors.length !== inputs ||
    vectors.some(({ length }) => length !== dimensions || length === 0)
  ) {
    throw unusableAnswer(
      modelId,
      `sent ${vectors.length} vectors for ${inputs} inputs, or vectors of unlike length.`,
    );
  }
  const all = new Float32Array(inputs * dimensions);
  vectors.forEach((vector, index) => all.set(vector, index * dimensions));
  return { vectors: all, dimensions };
}

/**
 * Jina's and Cohere's list of scores, in whatever order. @throws UpstreamFailure when it
 * is not what was asked for.
 */
function scoresIn({ results }: Fields, modelId: string, inputs: number): Embedding {
  if (!Array.isArray(results)) throw unusableAnswer(modelId, 'sent an answer without `results`.');
  const scores = new Float32Array(inputs).fill(NaN);
  for (const { index, relevance_score: score } of results.map(fieldsIn))
    if (typeof index === 'number' && typeof score === 'number') scores[index] = score;
  if (scores.some(Number.isNaN))
    throw unusableAnswer(modelId, `sent no score for some of ${inputs} documents.`);
  return { vectors: scores, dimensions: 1 };
}

function parsed(json: string, modelId: string): Fields {
  const answer = jsonIn(json, VECTOR_BOUNDS);
  if (answer !== undefined) return fieldsIn(answer);
  throw unusableAnswer(modelId, 'sent something that is no JSON.');
}

function vectorIn(value: unknown, modelId: string): Float32Array {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value, 'base64');
    // A copy, as a view of 32-bit numbers has to start at a multiple of four.
    return new Float32Array(
      Uint8Array.from(bytes.subarray(0, bytes.length - (bytes.length % 4))).buffer,
    );
  }
  if (Array.isArray(value) && value.every(number => typeof number === 'number'))
    return Float32Array.from(value);
  throw unusableAnswer(modelId, 'sent an embedding that is neither numbers nor base64.');
}

/** 2048 inputs of 4096 numbers, written out in decimal. */
const LARGEST_ANSWER_BYTES = 268_435_456;

/**
 * Embeddings of an OpenAI-compatible server, in the encoding that the caller asked for.
 */
export class OpenAiHttpEmbedder extends UpstreamEngine implements TextEmbedder {
  readonly kind = 'embedding';

  constructor(options: OpenAiHttpOptions, timing?: RetryTiming) {
    super(options, ['embeddings', 'dimensions', 'rerank'], timing);
  }

  embed(batch: readonly EmbedItem[]): Promise<readonly ItemOutcome<Embedding>[]> {
    return this.each(batch, item => this.#ask(item));
  }

  #ask(item: EmbedItem): Promise<Embedding> {
    const { form, inputs, signal } = item;
    const { model, modelId, scheduler } = this.options;
    const isRerank = form === 'rerank';
    // All scores are wanted: the gateway chooses the best of them and adds the documents.
    const fields = {
      model,
      ...(isRerank && { top_n: inputs, return_documents: false }),
    };
    const told = toldOf(scheduler, item, { body: item.body, fields });
    const request = {
      path: isRerank ? '/rerank' : '/embeddings',
      accept: 'application/json',
      headers: told.headers,
      body: jsonBody(told.body),
      signal,
    };
    return this.call(request, async body => {
      const answer = parsed(await textOf(body, LARGEST_ANSWER_BYTES), modelId);
      const read = isRerank ? scoresIn : embeddingIn;
      return { ...read(answer, modelId, inputs), usage: usageIn(answer.usage) };
    });
  }
}
