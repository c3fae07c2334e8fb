import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { embeddingBody } from '../../contracts/formats/embedding-body.js';
import { countInputs } from '../../contracts/openai/text-or-tokens.js';
import { EmbeddingDto } from '../../contracts/openai/embedding.dto.js';
import { REQUEST_FIELDS } from '../../contracts/openai/request-fields.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { answerHeaders } from '../http/answer-headers.js';
import { parseDto } from '../http/dto-validation.js';
import { bodyObject, rawBodyOf } from '../http/json-body.js';
import { httpCaller, InferenceService } from '../inference/inference.service.js';
import { advisedIn, demandAbilities, demandsOf, demandTask, type Strictness } from '../models/model-abilities.js';
import { ModelCatalog } from '../models/model-catalog.js';

interface ParsedEmbedding {
  readonly model: ModelSpec;
  readonly dto: EmbeddingDto;
  /** Vectors that are wanted. */
  readonly inputs: number;
  /** Fields that only advise and that this model cannot use. */
  readonly ignored: readonly string[];
}

const FIELDS = REQUEST_FIELDS['POST /v1/embeddings'];
type Body = Readonly<Record<string, unknown>>;

/** @throws DomainError for the first thing wrong with the body. */
export function parseEmbedding(body: Body, catalog: ModelCatalog, compat?: Strictness): ParsedEmbedding {
  const dto = parseDto(EmbeddingDto, body);
  const model = catalog.getOfKind(dto.model, 'embedding');
  demandTask(model, 'embeddings', catalog);
  const wanted = { ...advisedIn(FIELDS, body), dimensions: dto.dimensions !== undefined };
  const ignored = demandAbilities(model, demandsOf(FIELDS, wanted), catalog, compat);
  return { model, dto, inputs: countInputs(dto.input), ignored };
}

/** `/v1/embeddings`. */
@Injectable()
export class EmbeddingsService {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly inference: InferenceService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** @throws DomainError for everything that is not an answer. */
  async serve(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const parsed = parseEmbedding(bodyObject(request), this.catalog, this.settings.compat);
    const { model: spec, dto, inputs, ignored } = parsed;
    const { id: model } = spec;
    const body = rawBodyOf(request);
    const work = { model, bytes: body.length, audioDurationS: 0, payload: { kind: 'embed', body, inputs } } as const;
    const caller = httpCaller(request, reply, { tier: dto.service_tier, model: spec });
    const answer = await this.inference.start(caller, work).answer('embeddings');
    const { vectors, dimensions, usage } = answer.reply;
    const promptTokens = usage?.promptTokens ?? 0;
    const written = embeddingBody({ vectors, dimensions, encoding: dto.encoding_format, model, promptTokens });
    void reply
      .headers(answerHeaders(model, answer.timings, ignored))
      .type('application/json; charset=utf-8')
      .send(Readable.from(written, { objectMode: false }));
  }
}
