import {
  applyDecorators,
  Controller,
  HttpCode,
  Inject,
  Post,
  Res,
  type Type,
} from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse } from '@nestjs/swagger';
import { type FastifyReply } from 'fastify';
import { DetokenizeDto, TokenizeDto } from '../../contracts/openai/token.dto.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { type JsonRequest } from '../http/json-body.js';
import { JsonBody } from '../http/params.js';
import { DescribesErrors, FIELD_ERRORS, QUEUE_ERRORS } from '../http/openapi/errors.js';
import { httpCaller } from '../inference/inference.service.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { requestParser } from '../models/parse-request.js';
import { TextGenerationService } from './text-generation.service.js';

/** By route. */
export const TOKEN_PARSERS = {
  tokenize: requestParser({ type: TokenizeDto, kind: 'llm' }),
  detokenize: requestParser({ type: DetokenizeDto, kind: 'llm' }),
} as const;

const describes = (path: string, body: Type, example: object): MethodDecorator =>
  applyDecorators(
    HttpCode(200),
    ApiConsumes('application/json'),
    ApiBody({ type: body }),
    ApiOkResponse({
      content: { 'application/json': { schema: { type: 'object' }, example } },
    }),
    DescribesErrors('invalid_json', ...FIELD_ERRORS, ...QUEUE_ERRORS),
  );

/** What vLLM and llama.cpp serve beside OpenAI's routes. */
@Controller()
export class TokensController {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly generation: TextGenerationService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  @Post('tokenize')
  @describes('/tokenize', TokenizeDto, {
    tokens: [1, 300, 301],
    count: 3,
    max_model_len: 4096,
  })
  tokenize(@JsonBody() body: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.#serve('tokenize', body, reply);
  }

  @Post('detokenize')
  @describes('/detokenize', DetokenizeDto, {
    prompt: 'A switchyard is',
    content: 'A switchyard is',
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
