import { Inject, Injectable } from '@nestjs/common';
import { type CallEnvelope } from '../../contracts/grpc/call.codec.js';
import {
  type EmbeddingOptions,
  type QueueJob,
} from '../../contracts/queue-jobs/queue-job.js';
import { type BlobStore } from '../../core/jobs/job.ports.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { BLOB_STORE } from '../../platform/storage/blob.module.js';
import { readWhole } from '../../platform/storage/blob-keys.js';
import { type TextEmbedder } from '@switchyard/engine-api/text-embedder.js';
import { ENGINE } from '../engines/worker-engine.js';
import { EmbeddingService } from '../execution/embedding.service.js';
import { type JobAnswer, type JobWork, wrongKind } from './job-work.js';

/** Of one request. */
const MAX_BODY_BYTES = 64 * 1_048_576;

@Injectable()
export class EmbeddingWork implements JobWork {
  constructor(
    @Inject(ENGINE) private readonly engine: TextEmbedder,
    @Inject(BLOB_STORE) private readonly blobs: BlobStore,
    private readonly embedding: EmbeddingService,
  ) {}

  async perform(
    job: QueueJob,
    envelope: CallEnvelope,
    signal: AbortSignal,
  ): Promise<JobAnswer> {
    if (job.kind !== 'embedding') throw wrongKind(job, this.engine.kind);
    const { body, ...options } = job.options;
    const call = {
      ...envelope,
      ...options,
      body: await this.#bytes(body),
      tenant: job.tenant ?? '',
    };
    const { vectors, dimensions, usage, execution } = await this.embedding.embed(
      call,
      signal,
    );
    const value = {
      kind: 'embeddings',
      vectors: vectors.toString('base64'),
      dimensions,
      ...(usage && { usage }),
    } as const;
    return { value, execution };
  }

  /** @throws DomainError `file_not_found`, `file_too_large` */
  async #bytes(body: EmbeddingOptions['body']): Promise<Buffer> {
    if (typeof body === 'string') return Buffer.from(body);
    const param = 'options.body';
    const size = await this.blobs.size(body.blob);
    if (size === undefined) {
      throw new DomainError(
        'file_not_found',
        `There is no input ${body.blob} in the blob store.`,
        { param },
      );
    }
    if (size > MAX_BODY_BYTES) {
      throw new DomainError(
        'file_too_large',
        `${param} has ${size} bytes; at most ${MAX_BODY_BYTES}.`,
        { param },
      );
    }
    return readWhole(this.blobs, body.blob);
  }
}
