import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { embeddingBody } from '../../contracts/formats/embedding-body.js';
import { bodyObject } from '../http/body-object.js';
import { rawBodyOf } from '../http/raw-body.js';
import { answerHeaders } from '../http/request-timings.js';
import { httpCaller, InferenceService } from '../inference/inference.service.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { toEmbeddingParams } from './embedding-params.js';

/** `/v1/embeddings`. */
@Injectable()
export class EmbeddingsService {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly inference: InferenceService,
  ) {}

  /** @throws DomainError for everything that is not an answer. */
  async serve(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const {
      model: { id: model },
      dto,
      inputs,
    } = toEmbeddingParams(bodyObject(request), this.catalog);
    const body = rawBodyOf(request);
    const work = { model, bytes: body.length, audioDurationS: 0, payload: { kind: 'embed', body, inputs } } as const;
    const caller = httpCaller(request, reply, dto.service_tier);
    const answer = await this.inference.start(caller, work).answer('embeddings');
    const { vectors, dimensions, usage } = answer.reply;
    const promptTokens = usage?.promptTokens ?? 0;
    const written = embeddingBody({ vectors, dimensions, encoding: dto.encoding_format, model, promptTokens });
    void reply
      .headers(answerHeaders(model, answer.timings))
      .type('application/json; charset=utf-8')
      .send(Readable.from(written, { objectMode: false }));
  }
}
