import { Controller, HttpCode, Post, Res } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { DetokenizeDto, TokenizeDto } from '../../contracts/openai/token.dto.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { Settings } from '../../platform/config/settings.js';
import { type JsonRequest } from '../http/json-body.js';
import { JsonBody } from '../http/params.js';
import { httpCaller } from '../inference/inference.service.js';
import { requestParser } from '../models/model-abilities.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { describesText, jsonExample } from './completions.openapi.js';
import { TextGenerationService } from './text-generation.service.js';

/** What reads the body of each route. */
const TOKEN_PARSERS = {
  tokenize: requestParser(TokenizeDto, 'llm'),
  detokenize: requestParser(DetokenizeDto, 'llm'),
} as const;

/** What vLLM and llama.cpp serve beside OpenAI's routes. */
@Controller()
export class TokensController {
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
    const { model, ignored } = TOKEN_PARSERS[form](
      fields,
      this.catalog.usableBy(principalOf(reply.request)),
      compat,
    );
    const caller = httpCaller(reply, { tier: 'auto', model });
    const task = { form, maxTokens: 0, n: 1 } as const;
    const generation = { model, task, beginning: '', body };
    return this.generation.answer({ caller, generation, ignored }, answer => answer);
  }
}
