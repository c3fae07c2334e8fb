import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { openaiAt } from '../../support/openai-at.js';
import { type OpenAiUpstream } from '../../support/openai-upstream.js';
import { faultsOfEvents, faultsOfResponse } from '../../support/response-schema.js';
import { type GatewayRig } from '../api/gateway-rig.js';
import { chunk, DialectRig } from '../generation/dialect-rig.js';

type Event = OpenAI.Responses.ResponseStreamEvent;
type Response = OpenAI.Responses.Response;

const model = 'llama';
const input = 'what does a switchyard do?';

let dialect: DialectRig;
let upstream: OpenAiUpstream;
let script: DialectRig['script'];
let rig: GatewayRig;
let client: OpenAI;

beforeAll(async () => {
  dialect = await DialectRig.start();
  ({ rig, upstream, script } = dialect);
  client = openaiAt(rig.url);
}, 150_000);
afterAll(() => dialect[Symbol.asyncDispose]());

const eventsOf = async (body: object): Promise<readonly Event[]> =>
  Array.fromAsync(await client.responses.create({ model, input, ...body, stream: true }));

/** Whole, to the question of all. */
const create = (body: object): Promise<Response> =>
  client.responses.create({ model, input, max_output_tokens: 200, ...body });

const lastOf = (events: readonly Event[]): Response =>
  (events.at(-1) as { response: Response }).response;

/** Of two answers to one question all but what tells them apart. */
const sayings = ({ output }: Response): unknown =>
  output.map(item =>
    item.type === 'message' ? item.content : item.type === 'function_call' ? item.arguments : item,
  );

/** The model has to say something: one that is free to stop at once may say nothing. */
const switchFormat = {
  type: 'json_schema' as const,
  name: 'switch',
  schema: {
    ...{ type: 'object', required: ['on'], additionalProperties: false },
    properties: { on: { type: 'boolean' } },
  },
  strict: true,
};

const weather = {
  ...{
    type: 'function' as const,
    name: 'weather',
    description: 'The weather at a place.',
    strict: true,
  },
  parameters: {
    ...{ type: 'object', required: ['celsius'], additionalProperties: false },
    properties: { celsius: { type: 'boolean' } },
  },
};

describe('responses by the openai SDK on llama.cpp', () => {
  it('are the same whole and as events, as the public schema has them', async () => {
    const metadata = { of: 'test' };
    const asked = { max_output_tokens: 24, temperature: 0, metadata, store: false };
    const whole = await create(asked);
    expect(faultsOfResponse(whole)).toEqual([]);
    expect(whole).toMatchObject({ model, metadata, temperature: 0, store: false });
    expect(whole.status).toMatch(/^(in)?complete(d)?$/);
    expect(whole.usage).toMatchObject({
      total_tokens: whole.usage!.input_tokens + whole.usage!.output_tokens,
    });
    const events = await eventsOf(asked);
    expect(faultsOfEvents(events)).toEqual([]);
    expect(sayings(lastOf(events))).toEqual(sayings(whole));
    const deltas = events.map(event =>
      event.type === 'response.output_text.delta' ? event.delta : '',
    );
    expect(deltas.join('')).toBe(whole.output_text);
  });

  it('have one id for each item, in the stream and in the response', async () => {
    const text = { format: switchFormat };
    const events = await eventsOf({ text, max_output_tokens: 200 });
    const ids = lastOf(events).output.map(({ id }) => id);
    expect(new Set(events.flatMap(event => ('item_id' in event ? [event.item_id] : [])))).toEqual(
      new Set(ids),
    );
    expect(ids[0]).toMatch(/^msg_[0-9a-f]+$/);
  });

  it('end incomplete at their limit', async () => {
    const events = await eventsOf({ max_output_tokens: 16, top_p: 0.9 });
    const { status, incomplete_details } = lastOf(events);
    if (status === 'completed') return expect(incomplete_details).toBeNull();
    expect(events.at(-1)).toMatchObject({ type: 'response.incomplete' });
    expect(incomplete_details).toEqual({ reason: 'max_output_tokens' });
  });

  it('are JSON by a schema', async () => {
    const answer = await create({ text: { format: switchFormat } });
    expect(faultsOfResponse(answer)).toEqual([]);
    expect(JSON.parse(answer.output_text)).toEqual({ on: expect.any(Boolean) });
  });

  it.each([
    ['required', 'required'],
    ['named', { type: 'function', name: 'weather' }],
    [
      'allowed',
      {
        type: 'allowed_tools',
        mode: 'required',
        tools: [{ type: 'function', name: 'weather' }],
      },
    ],
  ] as const)('call a function that is %s, and go on with its output', async (_, tool_choice) => {
    const tools = [weather];
    const asked = { tools, tool_choice, parallel_tool_calls: false, max_output_tokens: 400 };
    const events = await eventsOf(asked);
    expect(faultsOfEvents(events)).toEqual([]);
    const { output } = lastOf(events);
    expect(output).toMatchObject([{ type: 'function_call', name: 'weather', status: 'completed' }]);
    const [call] = output as OpenAI.Responses.ResponseFunctionToolCall[];
    expect(JSON.parse(call!.arguments)).toEqual({ celsius: expect.any(Boolean) });
    const next = await create({
      ...{ tools, tool_choice: 'none', max_output_tokens: 16 },
      input: [
        { role: 'user', content: input },
        ...output,
        { type: 'function_call_output', call_id: call!.call_id, output: 'rain' },
      ],
    });
    expect(next.output).toMatchObject([{ type: 'message' }]);
  });

  it('call a function of a namespace by its name there, and go on with its output', async () => {
    const { type, name, parameters } = weather;
    const tools = [
      { type: 'web_search' },
      { type: 'namespace', name: 'place.x', tools: [{ type, name, parameters }] },
    ];
    const asked = { model, tools, parallel_tool_calls: false, max_output_tokens: 400 };
    const { output, id } = lastOf(await eventsOf({ ...asked, tool_choice: { type, name } }));
    const call = {
      type: 'function_call',
      name,
      namespace: 'place.x',
      status: 'completed',
    };
    expect(output).toMatchObject([call]);
    const { call_id } = output[0] as OpenAI.Responses.ResponseFunctionToolCall;
    const brought = [{ type: 'output_text', text: 'rain' }];
    const next = {
      ...asked,
      tool_choice: 'none',
      max_output_tokens: 16,
      previous_response_id: id,
    };
    const more = [{ type: 'function_call_output', call_id, output: brought }];
    const answer = await rig.post('/v1/responses', { ...next, input: more });
    expect([answer.status, answer.headers.get('x-switchyard-ignored')]).toEqual([200, 'tools[0]']);
  });

  it.each([
    ['guided_choice', ['left track', 'right "track"'], /^(left track|right "track")$/],
    ['guided_regex', '[a-c]{3}-"\\d+"?x', /^[a-c]{3}-"\d+"?x$/],
    [
      'guided_json',
      { type: 'object', properties: { on: { type: 'boolean' } }, required: ['on'] },
      /^\{\s*"on"\s*:/,
    ],
    ['structured_outputs', { choice: ['a', 'b'] }, /^[ab]$/],
  ])('hold a chat and a completion by %s', async (field, value, expected) => {
    const messages = [{ role: 'user', content: input }];
    const fields = { model, max_tokens: 300, [field]: value, ignore_eos: true };
    for (const [path, body] of Object.entries({
      chat: { messages },
      '': { prompt: input },
    })) {
      const answer = await rig.post(`/v1/${path}${path && '/'}completions`, {
        ...body,
        ...fields,
      });
      const { choices } = (await answer.json()) as {
        choices: { message?: { content: string }; text?: string }[];
      };
      expect(choices[0]!.message?.content ?? choices[0]!.text).toMatch(expected);
      expect(answer.headers.get('x-switchyard-ignored')).toBe('ignore_eos');
    }
  });

  it('leave out and report a tool that is only offered, in a chat, too', async () => {
    const { type, ...declared } = weather;
    const messages = [{ role: 'user', content: input }];
    const tools = [{ type: 'web_search' }, { type, function: { ...declared, name: 'weather.at' } }];
    const chosen = {
      tool_choice: { type: 'function', function: { name: 'weather.at' } },
      max_tokens: 400,
    };
    const answer = await rig.post('/v1/chat/completions', {
      model,
      messages,
      tools,
      ...chosen,
    });
    expect(answer.headers.get('x-switchyard-ignored')).toBe('tools[0]');
    expect(await answer.json()).toMatchObject({
      choices: [{ message: { tool_calls: [{ function: { name: 'weather.at' } }] } }],
    });
    const demanded = { tool_choice: { type: 'web_search' } };
    const refused = await rig.post('/v1/chat/completions', {
      model,
      messages,
      tools,
      ...demanded,
    });
    expect(await refused.json()).toMatchObject({
      error: { code: 'unsupported_parameter', param: 'tool_choice.type' },
    });
  });

  it('have log probabilities of their tokens', async () => {
    const include = ['message.output_text.logprobs'];
    const text = { format: switchFormat };
    const answer = await create({ include, top_logprobs: 2, text });
    expect(faultsOfResponse(answer)).toEqual([]);
    const [message] = answer.output as OpenAI.Responses.ResponseOutputMessage[];
    const [part] = message!.content as OpenAI.Responses.ResponseOutputText[];
    expect(part!.logprobs?.[0]?.top_logprobs).toHaveLength(2);
  });

  it('are counted before they are asked for', async () => {
    const counted = await client.responses.inputTokens.count({ model, input });
    const { usage } = await create({ max_output_tokens: 16 });
    expect(counted).toEqual({
      object: 'response.input_tokens',
      input_tokens: usage!.input_tokens,
    });
  });

  it('say where their time went, and which advice had no effect', async () => {
    const fields = {
      input,
      max_output_tokens: 16,
      reasoning: { effort: 'low' },
      prompt_cache_key: 'k',
    };
    const answer = await rig.post('/v1/responses', { model, ...fields });
    expect(answer.headers.get('server-timing')).toMatch(/queue;dur=.*ttft;dur=/);
    expect(answer.headers.get('x-switchyard-ignored')).toBe('prompt_cache_key');
    expect(Number(answer.headers.get('x-switchyard-completion-tokens'))).toBeGreaterThan(0);
    expect(await answer.json()).toMatchObject({
      reasoning: { effort: 'low' },
      prompt_cache_key: 'k',
    });
  });

  it('names 32 ignored items, and how many more there are', async () => {
    const skipped = Array.from({ length: 40 }, () => ({
      type: 'web_search_call',
      status: 'completed',
    }));
    const asked = {
      model,
      input: [{ role: 'user', content: input }, ...skipped],
      max_output_tokens: 16,
    };
    const names = (await rig.post('/v1/responses', asked)).headers
      .get('x-switchyard-ignored')!
      .split(', ');
    expect([names.length, names[0], names[31], names[32]]).toEqual([
      33,
      'input[1]',
      'input[32]',
      '+8',
    ]);
  });

  it.each([
    [{ model: 'none' }, 404, 'model_not_found', 'model'],
    [{ max_output_tokens: 2000 }, 400, 'context_length_exceeded', 'input'],
    [
      { input: [{ type: 'function_call_output', call_id: 'c', output: '' }] },
      400,
      'invalid_value',
      'input',
    ],
    [{ input: [] }, 400, 'missing_required_parameter', 'input'],
    [
      { tools: [{ type: 'web_search' }], tool_choice: 'required' },
      400,
      'invalid_value',
      'tool_choice',
    ],
    [
      { tools: [weather], tool_choice: { type: 'mcp' } },
      400,
      'unsupported_parameter',
      'tool_choice.type',
    ],
  ])('refuse %j with %i', async (fields, status, code, param) => {
    for (const stream of [false, true]) {
      const answer = await rig.post('/v1/responses', {
        model,
        input,
        ...fields,
        stream,
      });
      expect(answer.status).toBe(status);
      expect(await answer.json()).toMatchObject({ error: { code, param } });
    }
  });
});

describe('responses from an upstream that knows chat only', () => {
  const called = (more: object, end: object = {}): string =>
    chunk({ tool_calls: [{ index: 0, ...more }] }, end);
  const CALLS = { finish_reason: 'tool_calls' };

  it('have its reasoning and its calls as items, and it gets them back as messages', async () => {
    script(
      chunk({ role: 'assistant', reasoning_content: 'hm' }),
      chunk({ content: 'I ask.' }),
      called({ id: 'call_up', function: { name: 'weather', arguments: '' } }),
      called({ function: { arguments: '{"celsius":' } }),
      called({ function: { arguments: 'true}' } }, CALLS),
    );
    const before = upstream.posts.length;
    const events = await eventsOf({
      model: 'upstream-llm',
      tools: [weather],
      reasoning: { effort: 'high' },
    });
    expect(faultsOfEvents(events)).toEqual([]);
    const { output } = lastOf(events);
    expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call']);
    expect((await upstream.post(before)).json()).toMatchObject({
      ...{
        model: 'its/own-name',
        reasoning_effort: 'high',
        stream_options: { include_usage: true },
      },
      messages: [{ role: 'user', content: input }],
    });
    const more = [{ type: 'function_call_output', call_id: 'call_up', output: 'rain' }];
    const again = { model: 'upstream-llm', input: [...output, ...more], tools: [weather] };
    const next = await create(again);
    expect(next.output_text).toBe('rain');
    expect((await upstream.post(before + 1)).json().messages).toMatchObject([
      {
        role: 'assistant',
        content: 'I ask.',
        reasoning_content: 'hm',
        tool_calls: [{ id: 'call_up' }],
      },
      { role: 'tool', tool_call_id: 'call_up', content: 'rain' },
    ]);
  });

  it('have calls of custom tools as texts, and it gets them back as calls of functions', async () => {
    script(
      called({ id: 'call_up', function: { name: 'patch', arguments: '{"input":"*** ' } }),
      called({ function: { arguments: 'End"}' } }),
      chunk({}, CALLS),
    );
    const before = upstream.posts.length;
    const tools = [{ type: 'custom', name: 'patch', description: 'Applies a patch.' }];
    const asked = { model: 'upstream-llm', tools };
    const events = await eventsOf(asked);
    expect(events.map(({ type }) => type)).toContain('response.custom_tool_call_input.done');
    const { output } = lastOf(events);
    expect(output).toMatchObject([
      { type: 'custom_tool_call', call_id: 'call_up', name: 'patch', input: '*** End' },
    ]);
    const more = [
      ...output,
      { type: 'custom_tool_call_output', call_id: 'call_up', output: 'done' },
    ];
    await create({ ...asked, input: more });
    const called1 = {
      id: 'call_up',
      function: { name: 'patch', arguments: '{"input":"*** End"}' },
    };
    expect((await upstream.post(before + 1)).json()).toMatchObject({
      messages: [
        { tool_calls: [called1] },
        { role: 'tool', tool_call_id: 'call_up', content: 'done' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'patch', parameters: { required: ['input'] } },
        },
      ],
    });
  });

  it('that breaks off end as failed, with what they had said', async () => {
    const body =
      chunk({ content: 'half' }) +
      `data: ${JSON.stringify({ error: { message: 'out of memory' } })}\n\n`;
    upstream.script({ kind: 'body', type: 'text/event-stream', body });
    const answer = await rig.post('/v1/responses', {
      model: 'upstream-llm',
      input,
      stream: true,
    });
    const frames = (await answer.text()).split('\n\n').filter(frame => frame !== '');
    expect(frames.pop()).toBe('data: [DONE]');
    const events = frames.map(frame => JSON.parse(frame.split('data: ')[1]!) as Event);
    expect(faultsOfEvents(events)).toEqual([]);
    expect(events.slice(-2)).toMatchObject([
      {
        type: 'error',
        error: {
          code: 'engine_failed',
          message: expect.stringContaining('out of memory'),
        },
      },
      {
        response: {
          status: 'failed',
          output: [{ status: 'incomplete', content: [{ text: 'half' }] }],
        },
      },
    ]);
  });

  it('hear its refusal in the words of what they sent', async () => {
    const failing = client.responses.create({
      model: 'upstream-llm',
      input: 'FAIL',
      stream: true,
    });
    await expect(failing).rejects.toMatchObject({
      status: 400,
      code: 'invalid_value',
      param: 'input',
    });
  });
});
