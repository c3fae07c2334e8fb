import { Module, Controller, HttpCode, Post, Res } from '@nestjs/common';
import { InferenceModule } from '../inference/inference.module.js';
import { ModelsModule } from '../models/models.module.js';
import {
  CompletionsController,
  describesText,
  jsonExample,
} from './completions.controller.js';
import { TextGenerationService } from './text-generation.service.js';
import { type FastifyReply } from 'fastify';
import { DetokenizeDto, TokenizeDto } from '../../contracts/openai/token.dto.js';
import { Settings } from '../../platform/config/settings.js';
import { type JsonRequest } from '../http/json-body.js';
import { JsonBody } from '../http/params.js';
import { httpCaller } from '../inference/inference.service.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { requestParser } from '../models/model-abilities.js';
import { ApiBody, ApiOkResponse, ApiConsumes } from '@nestjs/swagger';
import {
  RerankDto,
  RerankingDto,
  type RerankResultDto,
} from '../../contracts/openai/rerank.dto.js';
import { DescribesErrors, FIELD_ERRORS, QUEUE_ERRORS } from '../http/openapi/errors.js';
import { DescribesRequestHeaders } from '../http/openapi/route.decorator.js';
import { answerHeaders } from '../http/answer-headers.js';

export const parseRerank = requestParser(RerankDto, 'embedding', 'rerank');

/**
 * `/v1/rerank`: one score per document; requests that wait together are computed
 * together, as embeddings are.
 */
@Controller('v1/rerank')
class RerankController {
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
    const { model, dto, ignored } = parseRerank(fields, this.catalog, compat);
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

/** @param scores 32-bit floats, one per document */
function ranked(
  { documents, top_n: most, return_documents: withText }: RerankDto,
  scores: Buffer,
): RerankResultDto[] {
  return documents
    .map((document, index) => ({
      index,
      relevance_score: scores.readFloatLE(4 * index),
      ...(withText && {
        document: { text: typeof document === 'string' ? document : document.text },
      }),
    }))
    .sort((a, b) => b.relevance_score - a.relevance_score)
    .slice(0, most);
}

/** By route. */
export const TOKEN_PARSERS = {
  tokenize: requestParser(TokenizeDto, 'llm'),
  detokenize: requestParser(DetokenizeDto, 'llm'),
} as const;

/** What vLLM and llama.cpp serve beside OpenAI's routes. */
@Controller()
class TokensController {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly generation: TextGenerationService,
    private readonly settings: Settings,
  ) {}

  @Post('tokenize')
  @HttpCode(200)
  @describesText({
    body: TokenizeDto,
    description: 'Tokens of a text.',
    content: jsonExample({ tokens: [1, 300, 301], count: 3, max_model_len: 4096 }),
  })
  tokenize(@JsonBody() body: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.#serve('tokenize', body, reply);
  }

  @Post('detokenize')
  @HttpCode(200)
  @describesText({
    body: DetokenizeDto,
    description: 'The text of tokens.',
    content: jsonExample({ prompt: 'A switchyard is', content: 'A switchyard is' }),
  })
  detokenize(@JsonBody() body: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.#serve('detokenize', body, reply);
  }

  #serve(
    form: keyof typeof TOKEN_PARSERS,
    { fields, bytes: body }: JsonRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const { compat } = this.settings;
    const { model, ignored } = TOKEN_PARSERS[form](fields, this.catalog, compat);
    const caller = httpCaller(reply, { tier: 'auto', model });
    const task = { form, maxTokens: 0, n: 1 } as const;
    const generation = { model, task, beginning: '', body };
    return this.generation.answer({ caller, generation, ignored }, answer => answer);
  }
}

/** Chat, completions and embeddings. */
@Module({
  imports: [InferenceModule, ModelsModule],
  controllers: [CompletionsController, RerankController, TokensController],
  providers: [TextGenerationService],
  exports: [TextGenerationService],
})
export class TextModule {}
