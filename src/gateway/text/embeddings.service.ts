import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { embeddingBody } from '../../contracts/formats/embedding-body.js';
import { countInputs } from '../../contracts/openai/text-or-tokens.js';
import { EmbeddingDto } from '../../contracts/openai/embedding.dto.js';
import { FIELD_RULES } from '../../contracts/openai/field-rules.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { answerHeaders } from '../http/answer-headers.js';
import { parseDto } from '../http/dto-validation.js';
import { bodyObject, rawBodyOf } from '../http/json-body.js';
import { httpCaller, InferenceService } from '../inference/inference.service.js';
import { demandAbilities, demandsOf, demandTask } from '../models/model-abilities.js';
import { ModelCatalog } from '../models/model-catalog.js';

interface ParsedEmbedding {
  readonly model: ModelSpec;
  readonly dto: EmbeddingDto;
  /** Vectors that are wanted. */
  readonly inputs: number;
}

/** @throws DomainError for the first thing wrong with the body. */
function parseEmbedding(body: Readonly<Record<string, unknown>>, catalog: ModelCatalog): ParsedEmbedding {
  const dto = parseDto(EmbeddingDto, body);
  const model = catalog.getOfKind(dto.model, 'embedding');
  demandTask(model, 'embeddings', catalog);
  demandAbilities(model, demandsOf(FIELD_RULES.embeddings, { dimensions: dto.dimensions !== undefined }), catalog);
  return { model, dto, inputs: countInputs(dto.input) };
}

/** `/v1/embeddings`. */
@Injectable()
export class EmbeddingsService {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly inference: InferenceService,
  ) {}

  /** @throws DomainError for everything that is not an answer. */
  async serve(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { model: spec, dto, inputs } = parseEmbedding(bodyObject(request), this.catalog);
    const { id: model } = spec;
    const body = rawBodyOf(request);
    const work = { model, bytes: body.length, audioDurationS: 0, payload: { kind: 'embed', body, inputs } } as const;
    const caller = httpCaller(request, reply, { tier: dto.service_tier, model: spec });
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
