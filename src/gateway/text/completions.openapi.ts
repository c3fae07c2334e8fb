import { applyDecorators, type Type } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { generationBody, generationChunk } from '../../contracts/formats/generation-body.js';
import { SSE_DONE, sseData } from '../../contracts/formats/server-sent-event.js';
import { ChatCompletionDto } from '../../contracts/openai/chat-completion.dto.js';
import { CompletionDto } from '../../contracts/openai/completion.dto.js';
import { EmbeddingDto } from '../../contracts/openai/embedding.dto.js';
import { type ErrorCode } from '../../core/errors/domain-error.js';
import { DescribesErrors, FIELD_ERRORS, QUEUE_ERRORS } from '../http/openapi/errors.js';
import { DescribesRequestHeaders } from '../http/openapi/route.decorator.js';

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
export const DescribesChat = (): MethodDecorator =>
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
export const DescribesCompletion = (): MethodDecorator =>
  describesText({
    body: CompletionDto,
    description: PASSED_ON,
    examples: { whole: { summary: 'The whole answer', value: complete } },
    content: answersOf('completion'),
  });

/** OpenAPI of the embeddings route. */
export const DescribesEmbeddings = (): MethodDecorator =>
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
