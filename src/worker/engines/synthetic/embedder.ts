import { createHash } from 'node:crypto';
import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { type ItemOutcome } from '@switchyard/engine-api/engine.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { rerankRequest } from '@switchyard/engine-api/rerank-request.js';
import {
  type Embedding,
  type EmbedItem,
  type TextEmbedder,
} from '@switchyard/engine-api/text-embedder.js';
import { outcomesOf, SyntheticEngine } from './device.js';
import { type SyntheticOptions } from './options.js';

/**
 * Vectors with no model: directions that only the text decides, computed in groups at
 * a scripted cost.
 */
export class SyntheticEmbedder extends SyntheticEngine implements TextEmbedder {
  readonly kind = 'embedding';

  constructor(options: SyntheticOptions) {
    super(options, { capabilities: ['embeddings', 'dimensions', 'rerank'] });
  }

  async embed(batch: readonly EmbedItem[]): Promise<readonly ItemOutcome<Embedding>[]> {
    const errors = await this.device(batch, ({ body }) => body);
    return outcomesOf(errors, at => {
      const { form, body } = batch[at]!;
      return form === 'rerank' ? this.#scores(body) : this.#embedding(body);
    });
  }

  /** How alike the directions of the query and of each document are, from 0 to 1. */
  #scores(body: Buffer): Embedding {
    const { dimensions } = this.options;
    const { query, documents } = rerankRequest(body);
    const asked = vectorOf(query, dimensions);
    const vectors = Float32Array.from(documents, document => {
      const alike = vectorOf(document, dimensions).map((part, at) => part * asked[at]!);
      return (1 + alike.reduce((sum, part) => sum + part, 0)) / 2;
    });
    return { vectors, dimensions: 1 };
  }

  #embedding(body: Buffer): Embedding {
    // As the gateway has checked it.
    const { input, dimensions = this.options.dimensions } = parseBoundedJson(
      body.toString('utf8'),
    ) as {
      readonly input?: unknown;
      readonly dimensions?: number;
    };
    const inputs = inputsIn(input);
    const vectors = new Float32Array(inputs.length * dimensions);
    inputs.forEach((text, index) => vectors.set(vectorOf(text, dimensions), index * dimensions));
    const promptTokens = inputs.reduce((sum, text) => sum + text.split(/\s+/).length, 0);
    const usage = { promptTokens, completionTokens: 0, cachedTokens: 0 };
    return { vectors, dimensions, usage };
  }
}

/** The inputs of an embedding request, each as a text. */
function inputsIn(input: unknown): readonly string[] {
  const several = Array.isArray(input) && !input.every(item => typeof item === 'number');
  const inputs: readonly unknown[] = several ? input : [input];
  return inputs.map(item => (typeof item === 'string' ? item : writeJson(item)));
}

/** A vector of length 1 in a direction that only the text decides. */
function vectorOf(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  let digest = Buffer.alloc(0);
  for (let at = 0; at < dimensions; at++) {
    if (at % 16 === 0) digest = createHash('sha256').update(`${at}:${text}`).digest();
    vector[at] = digest.readUInt16LE((at % 16) * 2) / 32_767.5 - 1;
  }
  const length = Math.hypot(...vector);
  return vector.map(value => value / length);
}
