import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { embeddingBody } from '../../contracts/formats/embedding-body.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { SchedulerService } from '../scheduler/scheduler.service.js';
import { type SettledRequest, type SubmittedRequest } from '../scheduler/submitted-request.js';
import { bodyObject } from '../http/body-object.js';
import { watchDisconnect } from '../inference/disconnect-watch.js';
import { type EmbeddingParams, toEmbeddingParams } from './embedding-params.js';
import { GenerationSessions } from './generation-sessions.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { rawBodyOf } from '../http/raw-body.js';
import { requestPriority } from '../inference/request-priority.js';
import { timingHeaders } from '../http/request-timings.js';

/** One embedding request: order → scheduler → vectors. */
@Injectable()
export class EmbeddingsService {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly scheduler: SchedulerService,
    private readonly sessions: GenerationSessions,
  ) {}

  /** @throws DomainError for everything that is not an answer. */
  async serve(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const order = toEmbeddingParams(bodyObject(request), this.catalog);
    const submitted = this.submit(order, request);
    this.sessions.opened(submitted, order.model.id);
    const unwatch = watchDisconnect(reply, () => void this.scheduler.cancel(submitted, 'disconnect'));
    const settled = await submitted.settled.finally(unwatch);
    const { vectors, dimensions, usage } = vectorsOf(settled);
    const { encoding_format: encoding } = order.dto;
    const promptTokens = usage?.promptTokens ?? 0;
    const body = embeddingBody({ vectors, dimensions, encoding, model: order.model.id, promptTokens });
    void reply
      .headers(timingHeaders(settled))
      .header('x-switchyard-model', order.model.id)
      .type('application/json; charset=utf-8')
      .send(Readable.from(body, { objectMode: false }));
  }

  private submit({ model, dto, inputs }: EmbeddingParams, request: FastifyRequest): SubmittedRequest {
    const body = rawBodyOf(request);
    return this.scheduler.submit({
      id: request.id,
      model: model.id,
      tenant: principalOf(request).tenant,
      priority: requestPriority(request.headers['x-priority'], dto.service_tier),
      bytes: body.length,
      audioDurationS: 0,
      payload: { kind: 'embed', body, inputs },
    });
  }
}

function vectorsOf({ settlement }: SettledRequest) {
  if (settlement.status !== 'completed') throw settlement.error;
  if (settlement.reply.kind !== 'embeddings') throw new Error('the worker answered an embedding with something else');
  return settlement.reply;
}
