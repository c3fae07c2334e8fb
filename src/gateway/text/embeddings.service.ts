import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { embeddingBody } from '../../contracts/formats/embedding-body.js';
import { countInputs } from '../../contracts/openai/text-or-tokens.js';
import { EmbeddingDto } from '../../contracts/openai/embedding.dto.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { answerHeaders } from '../http/answer-headers.js';
import { type JsonRequest } from '../http/json-body.js';
import { httpCaller, InferenceService } from '../inference/inference.service.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { requestParser } from '../models/parse-request.js';

export const parseEmbedding = requestParser({
  type: EmbeddingDto,
  kind: 'embedding',
  task: 'embeddings',
});

/** `/v1/embeddings`. */
@Injectable()
export class EmbeddingsService {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly inference: InferenceService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** @throws DomainError for everything that is not an answer. */
  async serve({ fields, bytes: body }: JsonRequest, reply: FastifyReply): Promise<void> {
    const {
      model: spec,
      dto,
      ignored,
    } = parseEmbedding(fields, this.catalog, this.settings.compat);
    const { id: model } = spec;
    const inputs = countInputs(dto.input);
    const work = {
      model,
      bytes: body.length,
      audioDurationS: 0,
      payload: { kind: 'embed', body, inputs },
    } as const;
    const caller = httpCaller(reply, { tier: dto.service_tier, model: spec });
    const answer = await this.inference.start(caller, work).answer('embeddings');
    const { vectors, dimensions, usage } = answer.reply;
    const promptTokens = usage?.promptTokens ?? 0;
    const written = embeddingBody({
      vectors,
      dimensions,
      encoding: dto.encoding_format,
      model,
      promptTokens,
    });
    void reply
      .headers(answerHeaders(model, answer.timings, ignored))
      .type('application/json; charset=utf-8')
      .send(Readable.from(written, { objectMode: false }));
  }
}
