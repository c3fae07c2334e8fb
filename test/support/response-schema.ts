import { Ajv2020 as Ajv } from 'ajv/dist/2020.js';
import { type ResponseRequest } from '../../src/contracts/openai/responses.js';

/** A request that asks for nothing in particular. */
export const aRequest = (changes: Partial<ResponseRequest> = {}): ResponseRequest => ({
  ...{
    model: 'm',
    input: [],
    include: [],
    stream: false,
    store: false,
    background: false,
  },
  ...{
    instructions: null,
    previous_response_id: null,
    tools: [],
    tool_choice: 'auto',
    parallel_tool_calls: true,
  },
  ...{
    max_output_tokens: null,
    max_tool_calls: null,
    text: { format: { type: 'text' } },
    reasoning: null,
  },
  ...{
    truncation: 'disabled',
    top_logprobs: 0,
    metadata: {},
    user: null,
    safety_identifier: null,
  },
  ...{ prompt_cache_key: null },
  ...changes,
});

const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const flag = { type: 'boolean' };
const number = { type: 'number' };
const orNull = (schema: object): object => ({ anyOf: [schema, { type: 'null' }] });
const oneOf = (...values: readonly string[]): object => ({ enum: values });
const listOf = (items: object): object => ({ type: 'array', items });

/** All fields are required, those named `x?` are not. */
function object(fields: Readonly<Record<string, object>>): object {
  const entries = Object.entries(fields);
  return {
    type: 'object',
    properties: Object.fromEntries(
      entries.map(([name, schema]) => [name.replace('?', ''), schema]),
    ),
    required: entries.map(([name]) => name).filter(name => !name.endsWith('?')),
  };
}

const logprob = object({
  token: text,
  logprob: number,
  bytes: listOf(count),
  top_logprobs: listOf({ type: 'object' }),
});
const part = {
  anyOf: [
    object({
      type: oneOf('output_text'),
      text,
      annotations: listOf({}),
      logprobs: listOf(logprob),
    }),
    object({ type: oneOf('refusal'), refusal: text }),
    object({ type: oneOf('reasoning_text', 'summary_text', 'input_text'), text }),
  ],
};
const status = oneOf('in_progress', 'completed', 'incomplete');
const item = {
  anyOf: [
    object({
      type: oneOf('message'),
      id: text,
      status,
      role: oneOf('assistant'),
      content: listOf(part),
    }),
    object({
      type: oneOf('function_call'),
      id: text,
      call_id: text,
      name: text,
      arguments: text,
      status,
    }),
    object({
      type: oneOf('reasoning'),
      id: text,
      summary: listOf(part),
      'content?': listOf(part),
    }),
  ],
};

const tool = object({
  ...{ type: oneOf('function'), name: text, description: orNull(text) },
  ...{ parameters: orNull({ type: 'object' }), strict: orNull(flag) },
});
const toolChoice = {
  anyOf: [
    oneOf('none', 'auto', 'required'),
    object({ type: oneOf('function'), name: text }),
    object({
      type: oneOf('allowed_tools'),
      mode: oneOf('auto', 'required', 'none'),
      tools: listOf({ type: 'object' }),
    }),
  ],
};
const format = {
  anyOf: [
    object({ type: oneOf('text', 'json_object') }),
    object({
      ...{ type: oneOf('json_schema'), name: text, description: orNull(text) },
      ...{ schema: orNull({ type: 'object' }), strict: flag },
    }),
  ],
};
const usage = object({
  ...{
    input_tokens: count,
    input_tokens_details: object({ cached_tokens: count, cache_write_tokens: count }),
    output_tokens: count,
  },
  ...{ output_tokens_details: object({ reasoning_tokens: count }), total_tokens: count },
});

/** What the public Open Responses schema demands of a response of functions and text. */
const response = object({
  ...{
    id: text,
    object: oneOf('response'),
    created_at: count,
    completed_at: orNull(count),
    model: text,
  },
  status: oneOf('queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'),
  incomplete_details: orNull(object({ reason: text })),
  ...{
    previous_response_id: orNull(text),
    instructions: orNull(text),
    output: listOf(item),
  },
  error: orNull(object({ code: text, message: text })),
  ...{
    tools: listOf(tool),
    tool_choice: toolChoice,
    truncation: oneOf('auto', 'disabled'),
    parallel_tool_calls: flag,
  },
  ...{
    text: object({ format }),
    top_p: number,
    presence_penalty: number,
    frequency_penalty: number,
  },
  ...{
    top_logprobs: count,
    temperature: number,
    reasoning: orNull(object({ effort: orNull(text) })),
  },
  ...{
    user: orNull(text),
    usage: orNull(usage),
    max_output_tokens: orNull(count),
    max_tool_calls: orNull(count),
  },
  ...{ store: flag, background: flag, service_tier: text, metadata: { type: 'object' } },
  ...{ safety_identifier: orNull(text), prompt_cache_key: orNull(text) },
});

const inItem = { item_id: text, output_index: count };
const inPart = { ...inItem, content_index: count };
const EVENTS: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  ...Object.fromEntries(
    ['created', 'queued', 'in_progress', 'completed', 'incomplete', 'failed'].map(name => [
      name,
      { response },
    ]),
  ),
  'output_item.added': { output_index: count, item },
  'output_item.done': { output_index: count, item },
  'content_part.added': { ...inPart, part },
  'content_part.done': { ...inPart, part },
  'output_text.delta': { ...inPart, delta: text, logprobs: listOf(logprob) },
  'output_text.done': { ...inPart, text, logprobs: listOf(logprob) },
  'refusal.delta': { ...inPart, delta: text },
  'refusal.done': { ...inPart, refusal: text },
  'reasoning_text.delta': { ...inPart, delta: text },
  'reasoning_text.done': { ...inPart, text },
  'function_call_arguments.delta': { ...inItem, delta: text },
  'function_call_arguments.done': { ...inItem, arguments: text },
};

const ajv = new Ajv({ allErrors: true, strict: false });
const judgeResponse = ajv.compile<unknown>(response);
const judges = new Map(
  Object.entries(EVENTS).map(([name, fields]) => {
    const type = `response.${name}`;
    return [
      type,
      ajv.compile<unknown>(object({ type: oneOf(type), sequence_number: count, ...fields })),
    ];
  }),
);
const error = object({
  type: text,
  code: orNull(text),
  message: text,
  param: orNull(text),
});
judges.set(
  'error',
  ajv.compile<unknown>(object({ type: oneOf('error'), sequence_number: count, error })),
);

/** What is wrong with a response; empty: nothing. */
export function faultsOfResponse(value: unknown): string[] {
  return judgeResponse(value)
    ? []
    : (judgeResponse.errors ?? []).map(fault => `${fault.instancePath} ${fault.message}`);
}

interface AnyEvent {
  readonly type: string;
  readonly sequence_number?: unknown;
}

/** What is wrong with the events of a stream, their numbers included. */
export function faultsOfEvents(events: readonly AnyEvent[]): string[] {
  return events.flatMap((event, at) => {
    const { type, sequence_number: number } = event;
    const judge = judges.get(type);
    if (!judge) return [`${type} is no event`];
    const numbered = number === at ? [] : [`${type} has number ${String(number)}`];
    if (judge(event)) return numbered;
    return [
      ...numbered,
      ...(judge.errors ?? []).map(fault => `${type}${fault.instancePath} ${fault.message}`),
    ];
  });
}
