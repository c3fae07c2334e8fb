import { Inject, Injectable } from '@nestjs/common';
import {
  type Embedding,
  type EmbedItem,
  type TextEmbedder,
} from '@switchyard/engine-api/text-embedder.js';
import { urgencyOf } from '@switchyard/worker-protocol/call.codec.js';
import {
  type EmbedCallFields,
  type Embedded,
} from '@switchyard/worker-protocol/generation.codec.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { WorkerSpec } from '../../platform/config/worker-spec.js';
import { ENGINE } from '../engines/worker-engine.js';
import { InFlightCalls } from '../lifecycle/in-flight-calls.js';
import { BatchJournal } from './batch-journal.js';
import { MicroBatcher } from './micro-batcher.js';

/**
 * Embeddings, micro-batched like recognition: one engine call for all that wait, up to
 * its largest group.
 */
@Injectable()
export class EmbeddingService {
  readonly #batcher: MicroBatcher<EmbedCallFields, EmbedItem, Embedding>;

  constructor(
    @Inject(ENGINE) engine: TextEmbedder,
    spec: WorkerSpec,
    clock: ProcessClock,
    journal: BatchJournal,
    calls: InFlightCalls,
  ) {
    this.#batcher = new MicroBatcher<EmbedCallFields, EmbedItem, Embedding>({
      prepare: (input, signal) => Promise.resolve({ ...input, urgency: urgencyOf(input), signal }),
      compute: group => engine.embed(group),
      engine,
      spec,
      clock,
      journal,
      calls,
    });
  }

  /**
   * @throws DomainError this call's own failure, or the abort's error once the
   *   work has stopped
   */
  async embed(call: EmbedCallFields, signal: AbortSignal): Promise<Embedded> {
    const { value, execution } = await this.#batcher.submit({
      call,
      input: call,
      signal,
    });
    const { vectors, dimensions, usage } = value;
    return {
      vectors: littleEndian(vectors),
      dimensions,
      execution,
      usage,
    };
  }
}

/** A view of the same memory: every platform of Node is little-endian. */
const littleEndian = (vectors: Float32Array): Buffer =>
  Buffer.from(vectors.buffer, vectors.byteOffset, vectors.byteLength);
