import { applyDecorators, Controller, HttpCode, Inject, Post, Req, Res, type Type } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { REQUEST_FIELDS } from '../../contracts/openai/request-fields.js';
import { DetokenizeDto, TokenizeDto } from '../../contracts/openai/token.dto.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { answerHeaders } from '../http/answer-headers.js';
import { parseDto } from '../http/dto-validation.js';
import { bodyObject, rawBodyOf } from '../http/json-body.js';
import { DescribesErrors, FIELD_ERRORS, QUEUE_ERRORS } from '../http/openapi/errors.js';
import { summaryOf } from '../http/openapi/route.decorator.js';
import { httpCaller } from '../inference/inference.service.js';
import { advisedIn, demandAbilities, demandsOf, type Strictness } from '../models/model-abilities.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { TextGenerationService } from './text-generation.service.js';

const DTOS = { tokenize: TokenizeDto, detokenize: DetokenizeDto } as const;

/** @throws DomainError for the first thing wrong with the body of `/tokenize` or `/detokenize`. */
export function parseTokens(
  route: keyof typeof DTOS,
  body: Readonly<Record<string, unknown>>,
  { catalog, compat }: { catalog: ModelCatalog; compat: Strictness },
) {
  const { model: name } = parseDto<TokenizeDto | DetokenizeDto>(DTOS[route], body);
  const model = catalog.getOfKind(name, 'llm');
  const fields = REQUEST_FIELDS[`POST /${route}`];
  return { model, ignored: demandAbilities(model, demandsOf(fields, advisedIn(fields, body)), catalog, compat) };
}

const describes = (path: string, body: Type, example: object): MethodDecorator =>
  applyDecorators(
    ApiOperation({ summary: summaryOf('POST', path) }),
    ApiConsumes('application/json'),
    ApiBody({ type: body }),
    ApiOkResponse({ content: { 'application/json': { schema: { type: 'object' }, example } } }),
    DescribesErrors('invalid_json', ...FIELD_ERRORS, ...QUEUE_ERRORS),
  );

/** What vLLM and llama.cpp serve beside OpenAI's routes. */
@ApiTags('text')
@Controller()
export class TokensController {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly generation: TextGenerationService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  @Post('tokenize')
  @HttpCode(200)
  @describes('/tokenize', TokenizeDto, { tokens: [1, 300, 301], count: 3, max_model_len: 4096 })
  tokenize(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.#serve('tokenize', request, reply);
  }

  @Post('detokenize')
  @HttpCode(200)
  @describes('/detokenize', DetokenizeDto, { prompt: 'A switchyard is', content: 'A switchyard is' })
  detokenize(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.#serve('detokenize', request, reply);
  }

  async #serve(form: keyof typeof DTOS, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { model, ignored } = parseTokens(form, bodyObject(request), {
      catalog: this.catalog,
      compat: this.settings.compat,
    });
    const caller = httpCaller(request, reply, { tier: 'auto', model });
    const task = { form, maxTokens: 0, n: 1 } as const;
    const started = this.generation.start(caller, { model, task, beginning: '', body: rawBodyOf(request) });
    const { reply: answer, timings } = await started.answer('generation');
    void reply
      .headers(answerHeaders(model.id, timings, ignored))
      .type('application/json; charset=utf-8')
      .send(answer.answer);
  }
}
