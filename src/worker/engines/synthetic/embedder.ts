import { DomainError } from '../../../core/errors/domain-error.js';
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
import { SyntheticEngine } from './device.js';
import { type ScriptedFault, type SyntheticOptions } from './options.js';
import { rerankRequest } from '@switchyard/engine-api/rerank-request.js';
import { syntheticBody, inputsIn, vectorOf } from './text.js';

/**
 * Vectors with no model: directions that only the text decides, computed in groups at
 * a scripted cost.
 */
export class SyntheticEmbedder extends SyntheticEngine implements TextEmbedder {
  readonly kind = 'embedding';

  constructor(options: SyntheticOptions, crash?: () => void) {
    super(options, { capabilities: ['embeddings', 'dimensions', 'rerank'] }, crash);
  }

  async embed(batch: readonly EmbedItem[]): Promise<readonly ItemOutcome<Embedding>[]> {
    if (batch.every(({ signal }) => signal.aborted))
      return batch.map(item => this.#outcome(item, undefined));
    const { faults } = await this.device.run(
      batch.map(({ signal, body }) => ({ signal, content: body })),
    );
    return batch.map((item, i) => this.#outcome(item, faults[i]));
  }

  #outcome(
    { requestId, form, body, signal }: EmbedItem,
    fault: ScriptedFault | undefined,
  ): ItemOutcome<Embedding> {
    if (signal.aborted) return failed(cancelledError(requestId));
    if (fault?.action === 'fail')
      return failed(
        new DomainError('engine_failed', `Scripted fault '${fault.marker}'.`),
      );
    try {
      return succeeded(form === 'rerank' ? this.#scores(body) : this.#embedding(body));
    } catch (error) {
      return failed(error);
    }
  }

  /** How alike the directions of the query and of each document are, from 0 to 1. */
  #scores(body: Buffer): Embedding {
    const { dimensions } = this.options;
    const { query, documents } = rerankRequest(body);
    const asked = vectorOf(query, dimensions);
    const alike = (document: string): number =>
      vectorOf(document, dimensions).reduce(
        (sum, part, at) => sum + part * asked[at]!,
        0,
      );
    const vectors = Float32Array.from(documents, document => (1 + alike(document)) / 2);
    return { vectors, dimensions: 1 };
  }

  #embedding(body: Buffer): Embedding {
    const request = syntheticBody(body);
    const dimensions =
      typeof request.dimensions === 'number'
        ? request.dimensions
        : this.options.dimensions;
    const inputs = inputsIn(request);
    const vectors = new Float32Array(inputs.length * dimensions);
    inputs.forEach((text, index) =>
      vectors.set(vectorOf(text, dimensions), index * dimensions),
    );
    const promptTokens = inputs.reduce((sum, text) => sum + text.split(/\s+/).length, 0);
    return {
      vectors,
      dimensions,
      usage: { promptTokens, completionTokens: 0, cachedTokens: 0 },
    };
  }
}
