import { Readable } from 'node:stream';
import { Controller, Post, Res, applyDecorators, type Type } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { type FastifyReply } from 'fastify';
import {
  embeddingBody,
  generationBody,
  generationChunk,
} from '../../contracts/formats/generation-body.js';
import { jsonWithFields, withJsonFields } from '../../contracts/formats/json-fields.js';
import { onOneLine, SSE_DONE, sseData } from '../../contracts/formats/server-sent-event.js';
import { EmbeddingDto } from '../../contracts/openai/embedding.dto.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { ChatCompletionDto, CompletionDto } from '../../contracts/openai/generation.dto.js';
import { countInputs } from '../../contracts/openai/text-or-tokens.js';
import { type ErrorCode } from '../../core/errors/domain-error.js';
import { Settings } from '../../platform/config/settings.js';
import { type JsonRequest } from '../http/json-body.js';
import { DescribesErrors, FIELD_ERRORS, QUEUE_ERRORS } from '../http/openapi/errors.js';
import { DescribesRequestHeaders } from '../http/openapi/route.decorator.js';
import { JsonBody } from '../http/params.js';
import { httpCaller } from '../inference/inference.service.js';
import { usedTier } from '../inference/request-priority.js';
import { answerHeaders } from '../latency/answer-headers.js';
import { requestParser } from '../models/model-abilities.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { parseChat, parseCompletion } from './parse-generation.js';
import { type AnswerForm, TextGenerationService } from './text-generation.service.js';

const EVENTS = {
  type: 'string',
  description:
    'With `stream: true`: `data: {…}` per chunk, then `data: [DONE]`. A failure after the first chunk is the error ' +
    'envelope as the last event, without `[DONE]`.',
};

interface TextDescription {
  readonly body: Type;
  readonly description: string;
  readonly result?: string;
  readonly errors?: readonly ErrorCode[];
  readonly examples?: Readonly<
    Record<string, { readonly summary: string; readonly value: object }>
  >;
  readonly content: Readonly<
    Record<string, { readonly schema: object; readonly example?: unknown }>
  >;
}

const PASSED_ON = 'Fields that the gateway does not know are forwarded to the engine unchanged.';
const question = [{ role: 'user', content: 'What does a switchyard do?' }];
const ask = { model: 'gpt-4o-mini', messages: question, max_completion_tokens: 64 };
const complete = { model: 'gpt-4o-mini', prompt: 'A switchyard is', max_tokens: 16 };
const embed = {
  model: 'text-embedding-3-small',
  input: ['on the right track', 'a place in the line'],
};

/** OpenAPI of the chat route. */
const DescribesChat = (): MethodDecorator =>
  describesText({
    body: ChatCompletionDto,
    description: PASSED_ON,
    examples: {
      whole: { summary: 'The whole answer', value: ask },
      stream: {
        summary: 'Server-sent events',
        value: { ...ask, stream: true, stream_options: { include_usage: true } },
      },
    },
    content: answersOf('chat'),
  });

/** OpenAPI of the completions route. */
const DescribesCompletion = (): MethodDecorator =>
  describesText({
    body: CompletionDto,
    description: PASSED_ON,
    examples: { whole: { summary: 'The whole answer', value: complete } },
    content: answersOf('completion'),
  });

/** OpenAPI of the embeddings route. */
const DescribesEmbeddings = (): MethodDecorator =>
  describesText({
    body: EmbeddingDto,
    description: `Requests that wait together are computed together. ${PASSED_ON}`,
    examples: { several: { summary: 'Two texts', value: embed } },
    content: jsonExample(VECTORS),
  });

export const jsonExample = (example: object): TextDescription['content'] => ({
  'application/json': { schema: { type: 'object' }, example },
});

const VECTORS = {
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.6, -0.8] }],
  model: 'bge-m3',
  usage: { prompt_tokens: 4, total_tokens: 4 },
};

function answersOf(form: 'chat' | 'completion'): TextDescription['content'] {
  const head = { form, id: 'chatcmpl-1', created: 1_763_683_200, model: 'qwen3-8b' };
  const usage = { promptTokens: 6, completionTokens: 2, cachedTokens: 0 };
  const chunk = generationChunk(head, {
    index: 0,
    text: 'It sorts',
    first: true,
    finishReason: null,
  });
  const whole = generationBody(head, [{ text: 'It sorts.', finishReason: 'stop' }], usage);
  return {
    ...jsonExample({ ...whole, service_tier: 'default' }),
    'text/event-stream': { schema: EVENTS, example: sseData(chunk) + SSE_DONE },
  };
}

/** OpenAPI of a route that answers with generated text, or with what a model counts. */
export function describesText({
  body,
  description,
  result = 'The answer, in the form asked for.',
  errors = [],
  examples,
  content,
}: TextDescription): MethodDecorator {
  return applyDecorators(
    ApiOperation({ description }),
    ApiConsumes('application/json'),
    ApiBody({ type: body, ...(examples && { examples }) }),
    DescribesRequestHeaders(),
    ApiOkResponse({ description: result, content }),
    DescribesErrors(
      'invalid_json',
      'unsupported_task',
      ...errors,
      ...FIELD_ERRORS,
      ...QUEUE_ERRORS,
    ),
  );
}

const DATA = Buffer.from('data: ');

const END = Buffer.from('\n\n');

/**
 * Generated text as OpenAI's events: chunks, then `[DONE]`, or the error envelope if it
 * fails after the first chunk.
 * @param fields set in every chunk; the rest of a chunk is sent unchanged
 */
export const completionEvents = (fields: Fields): AnswerForm => ({
  format: json => Buffer.concat([DATA, ...jsonWithFields(onOneLine(json), fields), END]),
  lastFrame: failure => (failure ? sseData(errorEnvelope(failure)) : SSE_DONE),
  whole: answer => withJsonFields(answer, fields),
});

export const parseEmbedding = requestParser(EmbeddingDto, 'embedding', 'embeddings');

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
    parse: typeof parseChat,
    { fields: body, bytes }: JsonRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const { compat } = this.settings;
    const { dto, generation, ignored } = parse(body, this.catalog, compat, bytes);
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
