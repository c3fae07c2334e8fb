import { Readable } from 'node:stream';
import { Controller, Post, Res } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { embeddingBody } from '../../contracts/formats/generation-body.js';
import { countInputs } from '../../contracts/openai/text-or-tokens.js';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { Settings } from '../../platform/config/settings.js';
import { type JsonRequest } from '../http/json-body.js';
import { JsonBody } from '../http/params.js';
import { httpCaller } from '../inference/inference.service.js';
import { usedTier } from '../inference/service-tier.js';
import { answerHeaders } from '../latency/answer-headers.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { completionEvents } from './completion-events.js';
import { DescribesChat, DescribesCompletion, DescribesEmbeddings } from './completions.openapi.js';
import { parseChat, parseCompletion, parseEmbedding } from './parse-generation.js';
import { TextGenerationService } from './text-generation.service.js';

/**
 * Chat, completions and embeddings. Text is sent while the worker still makes it: as long
 * as no chunk was sent a failure is a normal error; later ones are the last event of the
 * stream.
 */
@Controller('v1')
export class CompletionsController {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly generations: TextGenerationService,
    private readonly settings: Settings,
  ) {}

  @Post('chat/completions')
  @DescribesChat()
  chat(@JsonBody() body: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.#generate(parseChat, body, reply);
  }

  @Post('completions')
  @DescribesCompletion()
  complete(@JsonBody() body: JsonRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.#generate(parseCompletion, body, reply);
  }

  @Post('embeddings')
  @DescribesEmbeddings()
  async embed(
    @JsonBody() { fields, bytes: body }: JsonRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { compat } = this.settings;
    const {
      model: spec,
      dto,
      ignored,
    } = parseEmbedding(fields, this.catalog.usableBy(principalOf(reply.request)), compat);
    const { id: model } = spec;
    const inputs = countInputs(dto.input);
    const caller = httpCaller(reply, { tier: dto.service_tier, model: spec });
    const answer = await this.generations.embed(caller, model, { body, inputs });
    const { vectors, dimensions, usage } = answer.reply;
    const written = embeddingBody({
      vectors,
      dimensions,
      encoding: dto.encoding_format,
      model,
      promptTokens: usage?.promptTokens ?? 0,
    });
    void reply
      .headers(answerHeaders(model, answer.timings, ignored))
      .type('application/json; charset=utf-8')
      .send(Readable.from(written, { objectMode: false }));
  }

  #generate(
    parse: typeof parseChat,
    { fields: body, bytes }: JsonRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const { compat } = this.settings;
    const { dto, generation, ignored } = parse(
      body,
      this.catalog.usableBy(principalOf(reply.request)),
      compat,
      bytes,
    );
    const { model } = generation;
    const caller = httpCaller(reply, { tier: dto.service_tier, model });
    // Set in the answer by the gateway; the rest of it is the engine's.
    const fields = {
      model: model.id,
      service_tier: usedTier(caller.priority, dto.service_tier),
    };
    const turn = { caller, generation, ignored };
    return this.generations.say(turn, completionEvents(fields), dto.stream);
  }
}
