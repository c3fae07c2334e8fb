import { withJsonFields } from '../../../contracts/formats/json-fields.js';
import { type RetryTiming } from '../../../platform/http/retry-timing.js';
import {
  cancelledError,
  failed,
  type ItemOutcome,
  succeeded,
} from '@switchyard/engine-api/engine.js';
import {
  type Embedding,
  type EmbedItem,
  type TextEmbedder,
} from '@switchyard/engine-api/text-embedder.js';
import { type OpenAiHttpOptions } from './options.js';
import { UpstreamEngine } from './upstream-engine.js';
import { textOf } from './upstream-exchange.js';
import { unusableAnswer } from './upstream-failure.js';
import { usageIn } from './upstream-generation.js';

interface Expected {
  readonly modelId: string;
  /** Vectors that were asked for. */
  readonly inputs: number;
}

interface Listed {
  readonly index?: unknown;
  readonly embedding?: unknown;
}

/**
 * Reads OpenAI's list of vectors, numbers or base64, in whatever order.
 * @throws UpstreamFailure when it is not what was asked for.
 */
function embeddingIn(json: string, { modelId, inputs }: Expected): Embedding {
  const { data, usage } = parsed(json, modelId);
  const vectors = inOrder(data, modelId).map(({ embedding }) =>
    vectorIn(embedding, modelId),
  );
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
  const tokens = usageIn(usage);
  return { vectors: all, dimensions, ...(tokens && { usage: tokens }) };
}

interface Scored {
  readonly index?: unknown;
  readonly relevance_score?: unknown;
}

/**
 * Jina's and Cohere's list of scores, in whatever order. @throws UpstreamFailure when it
 * is not what was asked for.
 */
function scoresIn(json: string, { modelId, inputs }: Expected): Embedding {
  const { results, usage } = parsed(json, modelId);
  if (!Array.isArray(results))
    throw unusableAnswer(modelId, 'sent an answer without `results`.');
  const scores = new Float32Array(inputs).fill(NaN);
  for (const { index, relevance_score: score } of results as readonly Scored[])
    if (typeof index === 'number' && typeof score === 'number') scores[index] = score;
  if (scores.some(Number.isNaN))
    throw unusableAnswer(modelId, `sent no score for some of ${inputs} documents.`);
  const tokens = usageIn(usage);
  return { vectors: scores, dimensions: 1, ...(tokens && { usage: tokens }) };
}

interface Answered {
  readonly data?: unknown;
  readonly results?: unknown;
  readonly usage?: unknown;
}

function parsed(json: string, modelId: string): Answered {
  try {
    return (JSON.parse(json) as Answered | null) ?? {};
  } catch {
    throw unusableAnswer(modelId, 'sent something that is no JSON.');
  }
}

function inOrder(data: unknown, modelId: string): readonly Listed[] {
  if (!Array.isArray(data))
    throw unusableAnswer(modelId, 'sent an answer without `data`.');
  const place = ({ index }: Listed): number => (typeof index === 'number' ? index : 0);
  return (data as readonly Listed[]).toSorted((a, b) => place(a) - place(b));
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

  #ask({ form, body, inputs, signal }: EmbedItem): Promise<Embedding> {
    const { model, modelId } = this.options;
    const isRerank = form === 'rerank';
    // All scores are wanted: the gateway chooses the best of them and adds the documents.
    const fields = { model, ...(isRerank && { top_n: inputs, return_documents: false }) };
    const read = isRerank ? scoresIn : embeddingIn;
    return this.upstream.call({
      path: isRerank ? '/rerank' : '/embeddings',
      accept: 'application/json',
      body: { contentType: 'application/json', parts: [withJsonFields(body, fields)] },
      signal,
      read: async answer =>
        read(await textOf(answer, LARGEST_ANSWER_BYTES), { modelId, inputs }),
    });
  }
}
