import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { OllamaChatRequest } from '../../contracts/ollama/chat.dto.js';
import { OllamaEmbedRequest } from '../../contracts/ollama/embed.dto.js';
import { OllamaGenerateRequest } from '../../contracts/ollama/generate.dto.js';
import { OllamaTransferRequest, OllamaShowRequest } from '../../contracts/ollama/model.dto.js';
import { DescribesErrors, FIELD_ERRORS, QUEUE_ERRORS } from '../http/openapi/errors.js';
import { DescribesRequestHeaders } from '../http/openapi/route.decorator.js';

interface Route {
  readonly body?: Type;
  readonly description?: string;
  readonly example?: object;
  /** The route queues a request, so it can answer 429 and 503. */
  readonly isWork?: true;
}

const LINES =
  'Without `stream: false` the answer is lines of JSON (`application/x-ndjson`); a failure after the first line is ' +
  'a line with `error`. Until the first token comes, waiting and reading the prompt count as `prompt_eval_duration`.';
const COUNTS = { prompt_eval_count: 14, eval_count: 3 };
const done = { model: 'qwen3-8b', created_at: '2026-11-27T09:00:00.000Z', done: true };

const ROUTES = {
  chat: {
    body: OllamaChatRequest,
    description: LINES,
    example: {
      ...done,
      message: { role: 'assistant', content: 'It sorts.' },
      ...COUNTS,
    },
    isWork: true,
  },
  generate: {
    body: OllamaGenerateRequest,
    description: LINES,
    example: { ...done, response: 'It sorts.', ...COUNTS },
    isWork: true,
  },
  embed: {
    body: OllamaEmbedRequest,
    example: { model: 'bge-m3', embeddings: [[0.6, -0.8]], prompt_eval_count: 4 },
    isWork: true,
  },
  show: {
    body: OllamaShowRequest,
    example: { details: { format: 'gguf' }, capabilities: ['completion', 'tools'] },
  },
  pull: { body: OllamaTransferRequest, description: 'Refused, with the command.' },
  push: { body: OllamaTransferRequest, description: 'Refused.' },
  version: { example: { version: '0.9.0' } },
  tags: { example: { models: [{ name: 'qwen3-8b', model: 'qwen3-8b' }] } },
  ps: { example: { models: [{ name: 'qwen3-8b', model: 'qwen3-8b' }] } },
} as const satisfies Record<string, Route>;

/** OpenAPI of a route of Ollama. */
export function DescribesOllama(name: keyof typeof ROUTES): MethodDecorator {
  const { body, description = '', example = {}, isWork }: Route = ROUTES[name];
  return applyDecorators(
    HttpCode(200),
    ApiOperation({ description }),
    ...(body ? [ApiConsumes('application/json'), ApiBody({ type: body })] : []),
    ...(isWork ? [DescribesRequestHeaders()] : []),
    ApiOkResponse({
      content: { 'application/json': { schema: { type: 'object' }, example } },
    }),
    ...(body ? [DescribesErrors('invalid_json', 'unsupported_task', ...FIELD_ERRORS)] : []),
    ...(isWork ? [DescribesErrors(...QUEUE_ERRORS)] : []),
  );
}
