import {
  CreateResponseRequest,
  ResponseInputRequest,
} from '../../contracts/openai/response.dto.js';
import { type ResponseObject, type ResponseRequest } from '../../contracts/openai/responses.js';
import { describesText, jsonExample } from '../text/completions.openapi.js';
import { newResponse } from './parse/response-object.js';
import { eventFrame } from './stored/response-feed.js';
import { ResponseWriter } from './writer/response-writer.js';

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
    created_at: 1_763_683_200,
    model: 'qwen3-8b',
    service_tier: 'default',
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
  return describesText({
    body: CreateResponseRequest,
    description:
      'The same models as chat. Items have the same ids in the stream and in the response.',
    result: 'The response, whole or as events.',
    errors: ['context_length_exceeded', 'storage_quota_exceeded'],
    examples: EXAMPLES,
    content: {
      ...jsonExample(response),
      'text/event-stream': { schema: EVENTS, example: events },
    },
  });
}

const OF_INPUT = {
  body: ResponseInputRequest,
  errors: ['context_length_exceeded'],
} as const;

/** OpenAPI of the count. */
export const DescribesInputTokens = (): MethodDecorator =>
  describesText({
    ...OF_INPUT,
    description:
      'The model reads the input and draws one token: it is queued and counted like any other request.',
    result: 'Tokens that the input comes to.',
    content: jsonExample({ object: 'response.input_tokens', input_tokens: 11 }),
  });

/** OpenAPI of the compaction. */
export const DescribesCompaction = (): MethodDecorator =>
  describesText({
    ...OF_INPUT,
    description:
      'The model sums the conversation up: it is queued and counted like any other request.',
    result:
      'What to send in place of the conversation: its messages but for those of the model, and a summary.',
    content: jsonExample({
      id: 'resp_1',
      object: 'response.compaction',
      output: [{ id: 'cmp_1', type: 'compaction', encrypted_content: 'switchyard1.SXQ' }],
    }),
  });
