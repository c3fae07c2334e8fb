import { Controller, Post, Res } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiConsumes } from '@nestjs/swagger';
import { type FastifyReply } from 'fastify';
import { RerankDto } from '../../contracts/openai/rerank.dto.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { Settings } from '../../platform/config/settings.js';
import { type JsonRequest } from '../http/json-body.js';
import { DescribesErrors, FIELD_ERRORS, QUEUE_ERRORS } from '../http/openapi/errors.js';
import { DescribesRequestHeaders } from '../http/openapi/route.decorator.js';
import { JsonBody } from '../http/params.js';
import { httpCaller } from '../inference/inference.service.js';
import { answerHeaders } from '../latency/answer-headers.js';
import { requestParser } from '../models/model-abilities.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { ranked } from './dto/rerank-result.dto.js';
import { RerankingDto } from './dto/reranking.dto.js';
import { TextGenerationService } from './text-generation.service.js';

const parseRerank = requestParser(RerankDto, 'embedding', 'rerank');

/**
 * `/v1/rerank`: one score per document; requests that wait together are computed
 * together, as embeddings are.
 */
@Controller('v1/rerank')
export class RerankController {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly generations: TextGenerationService,
    private readonly settings: Settings,
  ) {}

  @Post()
  @ApiConsumes('application/json')
  @ApiBody({ type: RerankDto })
  @DescribesRequestHeaders()
  @ApiOkResponse({ type: RerankingDto })
  @DescribesErrors('invalid_json', 'unsupported_task', ...FIELD_ERRORS, ...QUEUE_ERRORS)
  async rerank(
    @JsonBody() { fields, bytes: body }: JsonRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { compat } = this.settings;
    const { model, dto, ignored } = parseRerank(
      fields,
      this.catalog.usableBy(principalOf(reply.request)),
      compat,
    );
    const work = { form: 'rerank', body, inputs: dto.documents.length } as const;
    const caller = httpCaller(reply, { tier: dto.service_tier, model });
    const embedded = await this.generations.embed(caller, model.id, work);
    const { reply: answer, timings } = embedded;
    const promptTokens = answer.usage?.promptTokens ?? 0;
    const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
    const answered: RerankingDto = {
      id: reply.request.id,
      object: 'list',
      model: model.id,
      results: ranked(dto, answer.vectors),
      usage,
      meta: { api_version: { version: '2' }, tokens: { input_tokens: promptTokens } },
    };
    void reply
      .headers(answerHeaders(model.id, timings, ignored))
      .type('application/json; charset=utf-8')
      .send(answered);
  }
}
