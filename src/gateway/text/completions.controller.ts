import { Readable } from 'node:stream';
import { Controller, Post, Res } from '@nestjs/common';
import { type FastifyReply } from 'fastify';
import { embeddingBody } from '../../contracts/formats/generation-body.js';
import { withJsonFields, JsonFields } from '../../contracts/formats/json-fields.js';
import { EmbeddingDto, countInputs } from '../../contracts/openai/embedding.dto.js';
import { Settings } from '../../platform/config/settings.js';
import { answerHeaders } from '../http/answer-headers.js';
import { type JsonRequest } from '../http/json-body.js';
import { JsonBody } from '../http/params.js';
import { httpCaller } from '../inference/inference.service.js';
import { usedTier } from '../inference/request-priority.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { requestParser } from '../models/parse-request.js';
import { parseChat, parseCompletion, type ParsedGeneration } from './parse-generation.js';
import { TextGenerationService } from './text-generation.service.js';
import {
  DescribesChat,
  DescribesCompletion,
  DescribesEmbeddings,
} from './text.openapi.js';
import {
  onOneLine,
  SSE_DONE,
  sseData,
} from '../../contracts/formats/server-sent-event.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { type DomainError } from '../../core/errors/domain-error.js';
import { type OutputForm } from './generation-output-stream.js';

const DATA = Buffer.from('data: ');

const END = Buffer.from('\n\n');

/**
 * Generated text as OpenAI's events: chunks, then `[DONE]`, or the error envelope if it
 * fails after the first chunk.
 */
export class CompletionEvents implements OutputForm {
  readonly #fields: JsonFields;

  /** @param fields set in every chunk; the rest of a chunk is sent unchanged */
  constructor(fields: Readonly<Record<string, unknown>>) {
    this.#fields = new JsonFields(fields);
  }

  format(json: Buffer): Buffer {
    return Buffer.concat([DATA, ...this.#fields.pieces(onOneLine(json)), END]);
  }

  lastFrame(failure: DomainError | undefined): string {
    return failure ? sseData(errorEnvelope(failure)) : SSE_DONE;
  }
}

export const parseEmbedding = requestParser({
  type: EmbeddingDto,
  kind: 'embedding',
  task: 'embeddings',
});

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
  chat(
    @JsonBody() { fields, bytes }: JsonRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const parsed = parseChat(fields, this.catalog, this.settings.compat);
    return this.#generate(parsed, bytes, reply);
  }

  @Post('completions')
  @DescribesCompletion()
  complete(
    @JsonBody() { fields, bytes }: JsonRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const parsed = parseCompletion(fields, this.catalog, this.settings.compat);
    return this.#generate(parsed, bytes, reply);
  }

  @Post('embeddings')
  @DescribesEmbeddings()
  async embed(
    @JsonBody() { fields, bytes: body }: JsonRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { compat } = this.settings;
    const { model: spec, dto, ignored } = parseEmbedding(fields, this.catalog, compat);
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
    { model, dto, task, beginning, ignored }: ParsedGeneration,
    body: Buffer,
    reply: FastifyReply,
  ): Promise<void> {
    const caller = httpCaller(reply, { tier: dto.service_tier, model });
    // Set in the answer by the gateway; the rest of it is the engine's.
    const fields = {
      model: model.id,
      service_tier: usedTier(caller.priority, dto.service_tier),
    };
    const turn = { caller, generation: { model, task, beginning, body }, ignored };
    if (!dto.stream)
      return this.generations.answer(turn, answer => withJsonFields(answer, fields));
    return this.generations.stream(turn, new CompletionEvents(fields));
  }
}
