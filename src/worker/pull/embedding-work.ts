import { Inject, Injectable } from '@nestjs/common';
import { type CallEnvelope } from '../../contracts/grpc/call.codec.js';
import { type PlaneJob } from '../../contracts/plane/plane-job.js';
import { EMBEDDER } from '../engine.tokens.js';
import { type TextEmbedder } from '../engines/engine.js';
import { EmbeddingService } from '../generation/embedding.service.js';
import { wrongKind } from './job-abilities.js';
import { type PlaneAnswer, type PlaneWork } from './plane-work.js';

@Injectable()
export class EmbeddingWork implements PlaneWork {
  constructor(
    @Inject(EMBEDDER) private readonly engine: TextEmbedder,
    private readonly embedding: EmbeddingService,
  ) {}

  async perform(job: PlaneJob, envelope: CallEnvelope, signal: AbortSignal): Promise<PlaneAnswer> {
    if (job.kind !== 'embedding') throw wrongKind(job, this.engine.kind);
    const { body, inputs } = job.options;
    const call = { ...envelope, body: Buffer.from(body), inputs, tenant: job.tenant ?? '' };
    const { vectors, dimensions, usage, execution } = await this.embedding.embed(call, signal);
    const value = {
      kind: 'embeddings',
      vectors: vectors.toString('base64'),
      dimensions,
      ...(usage && { usage }),
    } as const;
    return { value, execution };
  }

  discard(): Promise<void> {
    return Promise.resolve();
  }
}
