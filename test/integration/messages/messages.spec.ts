import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type OpenAiUpstream } from '../../support/openai-upstream.js';
import { type GatewayRig } from '../api/gateway-rig.js';
import { chunk, DialectRig } from '../generation/dialect-rig.js';

const model = 'llama';
const messages = [{ role: 'user' as const, content: 'what does a switchyard do?' }];

let dialect: DialectRig;
let rig: GatewayRig;
let upstream: OpenAiUpstream;
let script: DialectRig['script'];
let client: Anthropic;

beforeAll(async () => {
  dialect = await DialectRig.start();
  ({ rig, upstream, script } = dialect);
  client = new Anthropic({ baseURL: rig.url, apiKey: 'unused', maxRetries: 0 });
}, 150_000);
afterAll(async () => dialect[Symbol.asyncDispose]());

const weather = {
  name: 'weather',
  description: 'The weather at a place.',
  input_schema: {
    type: 'object' as const,
    required: ['celsius'],
    additionalProperties: false,
    properties: { celsius: { type: 'boolean' } },
  },
};

const USAGE = {
  prompt_tokens: 10,
  completion_tokens: 3,
  prompt_tokens_details: { cached_tokens: 4 },
};
const asked = { model: 'upstream-llm', max_tokens: 50, messages };

describe('models by the SDK of messages', () => {
  it('are listed in its own shape, those that it can talk to', async () => {
    const page = await client.models.list();
    const ids = page.data.map(({ id }) => id);
    expect(ids).toContain(model);
    expect(ids).not.toContain('synthetic-vectors');
    expect(page).toMatchObject({ has_more: false, first_id: ids[0], last_id: ids.at(-1) });
    expect(await client.models.retrieve(model)).toMatchObject({
      type: 'model',
      id: model,
      display_name: model,
      created_at: expect.stringMatching(/Z$/),
    });
  });
});

describe('messages by their SDK', () => {
  it('are the same whole and as events', async () => {
    const order = {
      model,
      max_tokens: 24,
      temperature: 0,
      messages,
      system: 'Be short.',
    };
    const whole = await client.messages.create(order);
    expect(whole).toMatchObject({
      type: 'message',
      role: 'assistant',
      model,
      content: [{ type: 'text', text: expect.any(String) }],
    });
    expect(['end_turn', 'max_tokens']).toContain(whole.stop_reason);
    const streamed = await client.messages.stream(order).finalMessage();
    expect(streamed.content).toEqual(whole.content);
    expect(streamed.stop_reason).toBe(whole.stop_reason);
    expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens);
    const counted = await client.messages.countTokens({
      model,
      messages,
      system: 'Be short.',
    });
    const { input_tokens: fresh, cache_read_input_tokens: cached } = whole.usage;
    expect(counted.input_tokens).toBe(fresh + (cached ?? 0));
  });

  it('call a tool that must be called, and go on with its result', async () => {
    const order = { model, max_tokens: 400, messages, tools: [weather] };
    for (const tool_choice of [
      // A model of random weights calls it twice now and then.
      { type: 'any', disable_parallel_tool_use: true },
      { type: 'tool', name: 'weather' },
    ] as const) {
      const called = await client.messages.stream({ ...order, tool_choice }).finalMessage();
      expect(called.content).toMatchObject([
        { type: 'tool_use', name: 'weather', input: { celsius: expect.any(Boolean) } },
      ]);
      expect(called.stop_reason).toBe('tool_use');
      const { id } = called.content[0] as Anthropic.ToolUseBlock;
      const next = await client.messages.create({
        ...order,
        max_tokens: 8,
        tool_choice: { type: 'none' },
        messages: [
          ...messages,
          { role: 'assistant', content: called.content },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: id, content: 'rain' }],
          },
        ],
      });
      expect(next.content).toMatchObject([{ type: 'text' }]);
    }
  });

  it('have thoughts, text and calls as blocks, which come back as they were', async () => {
    script(
      chunk({ reasoning_content: 'hm' }),
      chunk({ content: 'I ask.' }),
      chunk({
        tool_calls: [{ index: 0, id: 'call_1', function: { name: 'weather', arguments: '{"cel' } }],
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: 'sius":true}' } }] }),
      chunk({}, { finish_reason: 'tool_calls' }),
      `data: ${JSON.stringify({ choices: [], usage: USAGE })}\n\n`,
    );
    const before = upstream.posts.length;
    const said = await client.messages
      .stream({
        ...asked,
        tools: [weather],
        thinking: { type: 'enabled', budget_tokens: 1024 },
      })
      .finalMessage();
    expect(said).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'I ask.' },
        { type: 'tool_use', id: 'call_1', name: 'weather', input: { celsius: true } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 6, cache_read_input_tokens: 4, output_tokens: 3 },
    });
    expect((await upstream.post(before)).json()).toMatchObject({
      model: 'its/own-name',
      max_completion_tokens: 50,
      chat_template_kwargs: { enable_thinking: true },
      tools: [
        {
          type: 'function',
          function: { name: 'weather', parameters: weather.input_schema },
        },
      ],
    });
    script(chunk({ content: 'Rain.' }), chunk({}, { finish_reason: 'stop' }));
    await client.messages
      .stream({
        ...asked,
        system: [
          { type: 'text', text: 'One.', cache_control: { type: 'ephemeral' } },
          { type: 'text', text: 'Two.' },
        ],
        tools: [weather],
        tool_choice: { type: 'auto', disable_parallel_tool_use: true },
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Look.' },
              {
                type: 'image',
                source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
              },
            ],
          },
          { role: 'assistant', content: said.content },
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'call_1',
                content: [{ type: 'text', text: 'no place' }],
                is_error: true,
              },
              { type: 'text', text: 'Then?' },
            ],
          },
          // As Claude Code has it; the SDK does not know the role.
          { role: 'system' as 'user', content: [{ type: 'text', text: 'Be brief.' }] },
        ],
      })
      .finalMessage();
    expect((await upstream.post(before + 1)).json()).toMatchObject({
      parallel_tool_calls: false,
      messages: [
        { role: 'system', content: 'One.\nTwo.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look.' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
        {
          role: 'assistant',
          content: 'I ask.',
          reasoning_content: 'hm',
          tool_calls: [
            {
              id: 'call_1',
              function: { name: 'weather', arguments: '{"celsius":true}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'Error: no place' },
        { role: 'user', content: 'Then?' },
        { role: 'system', content: 'Be brief.' },
      ],
    });
  });

  it('name the sequence that stopped them', async () => {
    const order = { model, max_tokens: 60, temperature: 0, messages };
    const [{ text }] = (await client.messages.create(order)).content as [Anthropic.TextBlock];
    const stop = text.slice(2, 4);
    const cut = await client.messages.create({
      ...order,
      stop_sequences: ['#####', stop],
    });
    expect(cut).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: stop });
    const streamed = await client.messages
      .stream({ ...order, stop_sequences: [stop] })
      .finalMessage();
    expect(streamed).toMatchObject({ content: cut.content, stop_sequence: stop });
  });

  it('report tools and fields that have no effect here', async () => {
    script(chunk({ content: 'x' }), chunk({}, { finish_reason: 'stop' }));
    const { response } = await client.messages
      .create({
        ...asked,
        stream: true,
        service_tier: 'auto',
        tools: [{ type: 'web_search_20250305', name: 'web_search' }, weather],
      })
      .withResponse();
    await response.text();
    expect(response.headers.get('x-switchyard-ignored')).toBe('service_tier, tools[0]');
    expect(response.headers.get('request-id')).toMatch(/^req_/);
  });

  it('have errors in their own envelope, before and after the first event', async () => {
    await expect(client.messages.create({ ...asked, model: 'none' })).rejects.toMatchObject({
      status: 404,
      error: {
        type: 'error',
        error: { type: 'not_found_error' },
        request_id: expect.stringMatching(/^req_/),
      },
    });
    script(
      chunk({ content: 'half' }),
      `data: ${JSON.stringify({ error: { message: 'out of memory' } })}\n\n`,
    );
    const answer = await rig.post('/v1/messages', { ...asked, stream: true });
    expect((await answer.text()).split('\n\n').at(-2)).toMatch(
      /^event: error\ndata: \{"type":"error","error":\{"type":"api_error","message":"[^"]*out of memory/,
    );
  });

  const reported = async (fields: object) => {
    const answer = await rig.post('/v1/messages', { model, max_tokens: 4, messages, ...fields });
    expect([answer.status, await answer.json()]).toEqual([200, expect.anything()]);
    return answer.headers.get('x-switchyard-ignored');
  };

  it('end at the context where more tokens are asked for, and report it', async () => {
    expect(await reported({ max_tokens: 32_000, stop_sequences: [' '] })).toBe('max_tokens');
  });

  it('leave out blocks that no model reads, and report them and fields by their names', async () => {
    const source = { type: 'text', media_type: 'text/plain', data: 'x' };
    const result = [{ type: 'tool_reference', tool_name: 'f' }];
    const history = [
      { role: 'user', content: [{ type: 'document', source }, ...[{ type: 'text', text: 'x' }]] },
      {
        role: 'assistant',
        content: [
          { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
          { type: 'tool_use', id: 't', name: 'f', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: result }] },
    ];
    expect(await reported({ messages: history, zebra: 1, output_config: { effort: 'low' } })).toBe(
      'output_config.effort, zebra, messages[0].content[0], messages[1].content[0], messages[2].content[0].content[0]',
    );
  });

  it('are held to the schema of `output_config.format`', async () => {
    const schema = {
      type: 'object',
      properties: { ok: { type: 'boolean' } },
      required: ['ok'],
      additionalProperties: false,
    };
    const format = { type: 'json_schema', schema };
    for (const fields of [{ output_config: { format } }, { output_format: format }]) {
      const body = { model, max_tokens: 64, messages, ...fields };
      const answer = (await (await rig.post('/v1/messages', body)).json()) as Anthropic.Message;
      const [{ text }] = answer.content as [Anthropic.TextBlock];
      expect(JSON.parse(text)).toEqual({ ok: expect.any(Boolean) });
    }
  });

  it.each([
    [{ max_tokens: undefined }, /`max_tokens`/],
    [{ messages: [] }, /`messages`/],
    [{ messages: [{ role: 'tool', content: 'x' }] }, /`messages\[0\]\.role`/],
    [
      {
        messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'text' }] }],
      },
      /`messages\[0\]\.content\[1\]\.text`/,
    ],
    [{ output_config: { format: { type: 'xml' } } }, /`output_config\.format\.type`/],
    [{ tools: [{ name: 'no schema' }] }, /`tools\[0\]\.name`/],
    [{ tools: [{ name: 'x', input_schema: 3 }] }, /`tools\[0\]\.input_schema`/],
    [{ tool_choice: { type: 'some' } }, /`tool_choice\.type` must be one of auto/],
    [{ tool_choice: { type: 'any' } }, /`tool_choice` needs at least one/],
    [{ stop_sequences: 'x' }, /`stop_sequences`/],
    [{ thinking: { type: 'much' } }, /`thinking\.type`/],
    [{ mcp_servers: [{}] }, /`mcp_servers`/],
  ])('refuse %j', async (fields, message) => {
    for (const stream of [false, true]) {
      const answer = await rig.post('/v1/messages', {
        model,
        max_tokens: 9,
        messages,
        stream,
        ...fields,
      });
      expect(answer.status).toBe(400);
      expect(await answer.json()).toMatchObject({
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: expect.stringMatching(message),
        },
      });
    }
  });
});
