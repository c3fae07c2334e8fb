import { describe, expect, it } from '@jest/globals';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { ModelList } from '../../platform/config/config.module.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { renamed } from '../text/param-names.js';
import { PARAMS_OF_MESSAGE, parseMessage, parseMessageCount } from './parse-message.js';

const catalog = new ModelCatalog(
  new ModelList([
    syntheticModel(
      { contextTokens: 100 },
      { id: 'm', kind: 'llm', capabilities: ['chat', 'tools'] },
    ),
  ]),
);
const HI = [{ role: 'user', content: 'hi' }];
const BODY = { model: 'm', max_tokens: 5, messages: HI };
const parsed = (fields: Fields, strict = false) => {
  const { generation, ...rest } = parseMessage({ ...BODY, ...fields }, catalog, { strict });
  return { ...rest, task: generation.task, body: JSON.parse(String(generation.body)) as Fields };
};
const messagesOf = (role: string, content: unknown, more: Fields = {}) =>
  parsed({ messages: [{ role, content }], ...more }).body.messages;
const TOOL = { name: 'f', description: 'does', input_schema: { type: 'object' } };
const text = (said: string, more: Fields = {}) => ({ type: 'text', text: said, ...more });
const IMAGE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };

describe('a message', () => {
  it('is the chat that engines know', () => {
    expect(parsed({})).toEqual({
      stream: false,
      ignored: [],
      task: { form: 'chat', maxTokens: 5, n: 1 },
      body: { model: 'm', messages: HI, max_completion_tokens: 5, clamp_max_tokens: true },
    });
    expect(parsed({ stream: true })).toMatchObject({
      stream: true,
      body: { stream: true, stream_options: { include_usage: true } },
    });
  });

  const schema = { type: 'object' };
  const format = { type: 'json_schema', json_schema: { name: 'format', schema } };
  it.each([
    [{ thinking: { type: 'enabled' } }, { chat_template_kwargs: { enable_thinking: true } }],
    [{ thinking: { type: 'disabled' } }, { chat_template_kwargs: { enable_thinking: false } }],
    [{ thinking: { type: 'adaptive' } }, {}],
    [{ stop_sequences: ['#'] }, { stop: ['#'] }],
    [{ output_config: { format: { type: 'json_schema', schema } } }, { response_format: format }],
    [{ output_format: { type: 'json_schema', schema } }, { response_format: format }],
    [
      { tools: [TOOL] },
      {
        tools: [
          { type: 'function', function: { name: 'f', description: 'does', parameters: schema } },
        ],
      },
    ],
    [
      { tools: [TOOL], tool_choice: { type: 'any' } },
      { tools: expect.any(Array), tool_choice: 'required' },
    ],
    [
      { tools: [TOOL], tool_choice: { type: 'auto' } },
      { tools: expect.any(Array), tool_choice: 'auto' },
    ],
    [
      { tools: [TOOL], tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true } },
      {
        tools: expect.any(Array),
        tool_choice: { type: 'function', function: { name: 'f' } },
        parallel_tool_calls: false,
      },
    ],
    [
      { tools: [TOOL], tool_choice: { type: 'none' } },
      { tools: expect.any(Array), tool_choice: 'none' },
    ],
    [{ tool_choice: { type: 'auto' } }, {}],
    [{ tool_choice: { type: 'none' } }, {}],
  ])('says the same of how it is answered: %j', (fields, body) => {
    expect(parsed(fields).body).toEqual({ ...parsed({}).body, ...body });
    expect(parsed(fields).ignored).toEqual([]);
  });

  it.each([[{ type: 'any' }], [{ type: 'tool', name: 'f' }]])(
    'that demands a call needs a tool that is served: %j',
    choice => {
      const tools = [{ type: 'web_search_20250305', name: 'web_search' }];
      expect(() => parsed({ tools, tool_choice: choice })).toThrow(
        expect.objectContaining({ param: 'tool_choice' }),
      );
    },
  );

  const marked = { cache_control: { type: 'ephemeral' } };
  it.each([
    [{ max_tokens: 101 }, ['max_tokens']],
    [{ max_tokens: 100 }, []],
    [{ service_tier: 'auto' }, ['service_tier']],
    [{ system: [text('a', marked)] }, ['system[0].cache_control']],
    [
      { messages: [...HI, { role: 'user', content: [text('a'), text('b', marked)] }] },
      ['messages[1].content[1].cache_control'],
    ],
    [{ tools: [TOOL, { ...TOOL, ...marked }] }, ['tools[1].cache_control']],
    [{ tools: [TOOL, { type: 'bash_20250124', name: 'bash' }] }, ['tools[1]']],
    [
      { messages: [{ role: 'user', content: [text('a'), { type: 'document' }] }] },
      ['messages[0].content[1]'],
    ],
    [
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'c', content: [text('a'), { type: 'document' }] },
            ],
          },
        ],
      },
      ['messages[0].content[0].content[1]'],
    ],
  ])('names what has no effect: %j', (fields, ignored) => {
    expect(parsed(fields).ignored).toEqual(ignored);
    if (ignored.length > 0)
      expect(() => parsed(fields, true)).toThrow(expect.objectContaining({ param: ignored[0] }));
  });

  it('begins with what the system says', () => {
    const first = (system: unknown) => (messagesOf('user', 'hi', { system }) as Fields[])[0];
    expect(first('short')).toEqual({ role: 'system', content: 'short' });
    expect(first([text('a'), text('b')])).toEqual({ role: 'system', content: 'a\nb' });
    expect(messagesOf('user', 'hi', { system: '' })).toEqual(HI);
    expect(messagesOf('system', [text('now')])).toEqual([{ role: 'system', content: 'now' }]);
  });

  it('has texts, and parts only where it holds an image', () => {
    expect(messagesOf('user', [text('a'), text('b')])).toEqual([{ role: 'user', content: 'a\nb' }]);
    const link = { type: 'image', source: { type: 'url', url: 'http://x' } };
    expect(messagesOf('user', [text('a'), IMAGE, link])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          { type: 'image_url', image_url: { url: 'http://x' } },
        ],
      },
    ]);
  });

  it('has results of tools before what is asked', () => {
    const result = (content: unknown, isError = false) => ({
      type: 'tool_result',
      tool_use_id: 'c',
      content,
      ...(isError && { is_error: true }),
    });
    const tool = (content: unknown) => ({ role: 'tool', tool_call_id: 'c', content });
    expect(messagesOf('user', [result('42'), text('so?')])).toEqual([
      tool('42'),
      { role: 'user', content: 'so?' },
    ]);
    expect(messagesOf('user', [result('42')])).toEqual([tool('42')]);
    expect(messagesOf('user', [result('no', true)])).toEqual([tool('Error: no')]);
    expect(messagesOf('user', [result([text('no')], true)])).toEqual([tool('Error: no')]);
    expect(messagesOf('user', [result([text('no'), IMAGE], true)])).toMatchObject([
      tool([{ type: 'text', text: 'Error: ' }, { text: 'no' }, { type: 'image_url' }]),
    ]);
    expect(messagesOf('user', [text('')])).toEqual([{ role: 'user', content: '' }]);
  });

  it('has what was answered before, with its calls and thoughts', () => {
    const use = { type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } };
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
    const thought = { type: 'thinking', thinking: 'hm' };
    const assistant = (fields: Fields) => [{ role: 'assistant', ...fields }];
    expect(messagesOf('assistant', [use])).toEqual(
      assistant({ content: null, tool_calls: [call] }),
    );
    expect(messagesOf('assistant', [text('a'), use])).toEqual(
      assistant({ content: 'a', tool_calls: [call] }),
    );
    expect(messagesOf('assistant', [thought, thought, text('a')])).toEqual(
      assistant({ content: 'a', reasoning_content: 'hm\nhm' }),
    );
    expect(messagesOf('assistant', [])).toEqual(assistant({ content: '' }));
  });

  it('names its user', () => {
    expect(parsed({ metadata: { user_id: 'u' } }).body.user).toBe('u');
  });

  it('is counted as one of a single token', () => {
    const { model, messages } = BODY;
    const { stream, generation } = parseMessageCount({ model, messages }, catalog, {
      strict: true,
    });
    expect([stream, generation.task.maxTokens]).toEqual([false, 1]);
    expect(() => parseMessageCount({ model }, catalog, { strict: true })).toThrow('messages');
  });
});

describe('fields of a chat', () => {
  it.each([
    ['max_completion_tokens', 'max_tokens'],
    ['stop[1]', 'stop_sequences[1]'],
    ['response_format.json_schema.schema', 'output_config.format.schema'],
    ['tools[2].function.parameters.type', 'tools[2].input_schema.type'],
    ['tools[2].function.name', 'tools[2].name'],
    ['chat_template_kwargs.enable_thinking', 'thinking'],
    ['messages[0]', 'messages[0]'],
  ])('are known to callers by their own names: %s', (param, own) => {
    expect(renamed(PARAMS_OF_MESSAGE, param)).toBe(own);
  });
});
