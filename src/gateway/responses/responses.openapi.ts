import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import {
  CreateResponseRequest,
  ResponseInputRequest,
} from '../../contracts/openai/response.dto.js';
import {
  type ResponseObject,
  type ResponseRequest,
} from '../../contracts/openai/responses.js';
import { DescribesErrors, FIELD_ERRORS, QUEUE_ERRORS } from '../http/openapi/errors.js';
import { DescribesRequestHeaders } from '../http/openapi/route.decorator.js';
import { newResponse } from './response-object.js';
import { eventFrame } from './response-stream.js';
import { ResponseWriter } from './response-writer.js';

const EVENTS = {
  type: 'string',
  description:
    'With `stream: true`: `response.created`, `response.in_progress`, events of each item and its parts, and at last ' +
    '`response.completed`, `response.incomplete`, or `error` and `response.failed`; then `data: [DONE]`. ' +
    '`sequence_number` counts from 0 without gaps.',
};

const ask = {
  model: 'gpt-4o-mini',
  input: 'What does a switchyard do?',
  max_output_tokens: 64,
};
const weather = {
  type: 'function',
  name: 'weather',
  description: 'The weather at a place.',
  parameters: {
    type: 'object',
    properties: { place: { type: 'string' } },
    required: ['place'],
  },
};

const EXAMPLES = {
  whole: { summary: 'The whole answer', value: ask },
  stream: { summary: 'Server-sent events', value: { ...ask, stream: true } },
  tools: {
    summary: 'A function has to be called',
    value: { ...ask, tools: [weather], tool_choice: 'required' },
  },
};

const REQUEST: ResponseRequest = {
  model: 'gpt-4o-mini',
  input: [],
  include: [],
  stream: true,
  store: false,
  background: false,
  instructions: null,
  previous_response_id: null,
  tools: [],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  max_output_tokens: 64,
  max_tool_calls: null,
  text: { format: { type: 'text' } },
  reasoning: null,
  truncation: 'disabled',
  top_logprobs: 0,
  metadata: {},
  user: null,
  safety_identifier: null,
  prompt_cache_key: null,
};

function example(): { readonly response: ResponseObject; readonly events: string } {
  const head = {
    id: 'resp_1',
    createdS: 1_763_683_200,
    model: 'qwen3-8b',
    serviceTier: 'default',
  };
  const writer = new ResponseWriter(newResponse(REQUEST, head));
  const events = [
    ...writer.begin(),
    ...writer.take({ type: 'text', text: 'It sorts.' }),
    ...writer.take({ type: 'finish', reason: 'stop' }),
    ...writer.end(1_763_683_201),
  ];
  return { response: writer.response, events: events.map(eventFrame).join('') };
}

/** OpenAPI of the route. */
export function DescribesResponses(): MethodDecorator {
  const { response, events } = example();
  return applyDecorators(
    ApiOperation({
      description:
        'The same models as chat. Items have the same ids in the stream and in the response.',
    }),
    ApiConsumes('application/json'),
    ApiBody({ type: CreateResponseRequest, examples: EXAMPLES }),
    DescribesRequestHeaders(),
    ApiOkResponse({
      description: 'The response, whole or as events.',
      content: {
        'application/json': { schema: { type: 'object' }, example: response },
        'text/event-stream': { schema: EVENTS, example: events },
      },
    }),
    DescribesErrors(
      'invalid_json',
      'unsupported_task',
      'context_length_exceeded',
      'storage_quota_exceeded',
      ...FIELD_ERRORS,
      ...QUEUE_ERRORS,
    ),
  );
}

const describesInput = (
  description: string,
  result: string,
  example: object,
): MethodDecorator =>
  applyDecorators(
    ApiOperation({ description }),
    ApiConsumes('application/json'),
    ApiBody({ type: ResponseInputRequest }),
    DescribesRequestHeaders(),
    ApiOkResponse({ description: result, schema: { type: 'object', example } }),
    DescribesErrors(
      'invalid_json',
      'unsupported_task',
      'context_length_exceeded',
      ...FIELD_ERRORS,
      ...QUEUE_ERRORS,
    ),
  );

/** OpenAPI of the count. */
export const DescribesInputTokens = (): MethodDecorator =>
  describesInput(
    'The model reads the input and draws one token: it is queued and counted like any other request.',
    'Tokens that the input comes to.',
    { object: 'response.input_tokens', input_tokens: 11 },
  );

/** OpenAPI of the compaction. */
export const DescribesCompaction = (): MethodDecorator =>
  describesInput(
    'The model sums the conversation up: it is queued and counted like any other request.',
    'What to send in place of the conversation: its messages but for those of the model, and a summary.',
    {
      id: 'resp_1',
      object: 'response.compaction',
      output: [{ id: 'cmp_1', type: 'compaction', encrypted_content: 'switchyard1.SXQ' }],
    },
  );
