import { describe, expect, it } from '@jest/globals';
import { type Fields } from '@switchyard/engine-api/is-object.js';
import { syntheticModel } from '../../../test/support/synthetic-model.js';
import { ModelList } from '../../platform/config/config.module.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { parseEmbed, parseLoad, parseOllama, servedName } from './parse-ollama.js';

const able = ['chat', 'completions', 'tools', 'logprobs', 'vision'];
const catalog = new ModelCatalog(
  new ModelList([
    syntheticModel({ contextTokens: 100 }, { id: 'm', kind: 'llm', capabilities: able }),
    syntheticModel({}, { id: 'tagged:latest', kind: 'llm', capabilities: able }),
    syntheticModel({}, { id: 'e', kind: 'embedding', capabilities: ['embeddings'] }),
  ]),
);
const LENIENT = { strict: false };
const STRICT = { strict: true };
const ASKED = [{ role: 'user', content: 'hi' }];

const parsed = (form: 'chat' | 'generate', fields: Fields) => {
  const { generation, ...rest } = parseOllama(form, { model: 'm', ...fields }, catalog, LENIENT);
  return { ...rest, task: generation.task, body: JSON.parse(String(generation.body)) as Fields };
};
const chatOf = (fields: Fields) => parsed('chat', { messages: ASKED, ...fields });
const messagesOf = (messages: readonly Fields[]) => chatOf({ messages }).body.messages;

describe('a name of a model', () => {
  it.each([
    ['m:latest', 'm'],
    ['m', 'm'],
    ['tagged:latest', 'tagged:latest'],
    [7, 7],
  ])('may have a tag that clients add: %s', (name, served) => {
    expect(servedName(name, catalog)).toBe(served);
  });
});

describe('a chat of Ollama', () => {
  it('is the chat that engines know', () => {
    expect(chatOf({ model: 'm:latest' })).toEqual({
      stream: true,
      ignored: [],
      task: { form: 'chat', maxTokens: 0, n: 1 },
      body: {
        model: 'm',
        messages: ASKED,
        clamp_max_tokens: true,
        stream: true,
        stream_options: { include_usage: true },
      },
    });
    const whole = chatOf({ stream: false }).body;
    expect([whole.stream, whole.tools, whole.logprobs]).toEqual([undefined, undefined, undefined]);
  });

  it.each([
    [{ options: { num_predict: 5 } }, { max_completion_tokens: 5 }],
    [{ options: { num_predict: 1 } }, { max_completion_tokens: 1 }],
    [{ options: { num_predict: 0 } }, { max_completion_tokens: undefined }],
    [{ options: { num_predict: -1 } }, { max_completion_tokens: undefined }],
    [{ options: { seed: 7, temperature: 0, top_p: 0.5 } }, { seed: 7, temperature: 0, top_p: 0.5 }],
    [{ format: 'json' }, { response_format: { type: 'json_object' } }],
    [{ format: '' }, { response_format: undefined }],
    [
      { format: { type: 'object' } },
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'format', schema: { type: 'object' } },
        },
      },
    ],
    [{ think: true }, { chat_template_kwargs: { enable_thinking: true } }],
    [{ think: false }, { chat_template_kwargs: { enable_thinking: false } }],
    [{ think: 'high' }, { reasoning_effort: 'high', chat_template_kwargs: undefined }],
    [
      { logprobs: true, top_logprobs: 2 },
      { logprobs: true, top_logprobs: 2 },
    ],
    [{ top_logprobs: 2 }, { logprobs: undefined, top_logprobs: undefined }],
    [{ tools: [{ type: 'function', function: { name: 'f' } }] }, { tools: expect.any(Array) }],
    [{ tools: [] }, { tools: undefined }],
  ])('says the same of how it is answered: %j', (fields, body) => {
    expect(chatOf(fields).body).toEqual({ ...chatOf({}).body, ...body });
    expect(chatOf(fields).ignored).toEqual([]);
  });

  it.each([
    [{ keep_alive: '5m' }, ['keep_alive']],
    [{ options: { num_ctx: 1, num_predict: 1 } }, ['options.num_ctx']],
    [{ options: { num_predict: 101 } }, ['options.num_predict']],
    [{ options: { num_predict: 100 } }, []],
  ])('names what has no effect: %j', (fields, ignored) => {
    expect(chatOf(fields).ignored).toEqual(ignored);
    const strict = () =>
      parseOllama('chat', { model: 'm', messages: ASKED, ...fields }, catalog, STRICT);
    if (ignored.length > 0) expect(strict).toThrow(expect.objectContaining({ param: ignored[0] }));
    else strict();
  });

  it('has images with the type that their bytes have', () => {
    const images = ['/9j/a', 'R0lGOa', 'UklGRa', 'iVBORa'];
    const content = ['jpeg', 'gif', 'webp', 'png'].map((type, at) => ({
      type: 'image_url',
      image_url: { url: `data:image/${type};base64,${images[at]}` },
    }));
    expect(messagesOf([{ role: 'user', content: 'what?', images }])).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'what?' }, ...content] },
    ]);
  });

  it('has calls with ids, and results that answer the oldest open call of their tool', () => {
    const call = (name: string, ...given: object[]) => ({
      function: { name, arguments: { ...given } },
    });
    const results = (
      [
        { tool_name: 'g' },
        {},
        { tool_call_id: 'call_0_1' },
        { tool_call_id: 'call_0_3', tool_name: 'f' },
        {},
        { tool_call_id: 'mine' },
      ] as const
    ).map(named => ({ role: 'tool', content: 'r', ...named }));
    const calls = ['f', 'f', 'g', 'g', 'f'].map(name => call(name));
    const [assistant, ...answers] = messagesOf([
      { role: 'assistant', content: '', thinking: 'hm', tool_calls: calls },
      ...results,
    ]) as { content: unknown; tool_call_id: string; tool_calls: { id: string }[] }[];
    expect(assistant).toMatchObject({ content: null, reasoning_content: 'hm' });
    expect(assistant!.tool_calls[4]).toEqual({
      id: 'call_0_4',
      type: 'function',
      function: { name: 'f', arguments: '{}' },
    });
    expect(answers.map(({ tool_call_id: id }) => id)).toEqual([
      'call_0_2',
      'call_0_0',
      'call_0_1',
      'call_0_3',
      'call_0_4',
      'mine',
    ]);
    expect(
      messagesOf([{ role: 'assistant', content: 'so', tool_calls: [call('f')] }]),
    ).toMatchObject([{ content: 'so' }]);
    expect(messagesOf([{ role: 'assistant', content: '' }])).toEqual([
      { role: 'assistant', content: '' },
    ]);
    expect(messagesOf([{ role: 'tool', content: 'r' }])).toEqual([
      { role: 'tool', tool_call_id: 'call', content: 'r' },
    ]);
  });
});

describe('a prompt of Ollama', () => {
  it.each([
    [{ prompt: 'hi' }, [{ role: 'user', content: 'hi' }]],
    [
      { prompt: 'hi', system: 'short' },
      [
        { role: 'system', content: 'short' },
        { role: 'user', content: 'hi' },
      ],
    ],
  ])('is a chat of one question: %j', (fields, messages) => {
    expect(parsed('generate', fields).body.messages).toEqual(messages);
  });

  it('is a completion where it is to be taken as it is', () => {
    const fields = { prompt: 'a b', raw: true, options: { num_predict: 5 }, logprobs: true };
    const { task, body, ignored } = parsed('generate', fields);
    expect(task).toEqual({ form: 'completion', maxTokens: 5, n: 1 });
    expect(body).toMatchObject({ prompt: 'a b', max_tokens: 5 });
    expect([ignored, body.logprobs]).toEqual([['logprobs'], undefined]);
  });
});

describe('a request that only loads a model', () => {
  it.each([
    ['chat', {}, true],
    ['chat', { messages: [] }, true],
    ['chat', { messages: ASKED }, false],
    ['chat', { messages: 'hi' }, false],
    ['generate', {}, true],
    ['generate', { prompt: '' }, true],
    ['generate', { prompt: 'hi' }, false],
    ['generate', { prompt: '', images: ['a'] }, false],
  ] as const)('asks nothing: %s %j', (form, fields, isLoad) => {
    const load = parseLoad(form, { model: 'm:latest', keep_alive: 5, ...fields }, catalog, LENIENT);
    expect(load && [load.model.id, load.ignored]).toEqual(
      isLoad ? ['m', ['keep_alive']] : undefined,
    );
  });
});

describe('texts to embed', () => {
  it('are of a model for that', () => {
    const fields = { model: 'e:latest', input: 'a', truncate: true };
    const { model, dto, ignored } = parseEmbed(fields, catalog, LENIENT);
    expect([model.id, dto.input, ignored]).toEqual(['e', 'a', ['truncate']]);
    expect(() => parseEmbed({ model: 'm', input: 'a' }, catalog, LENIENT)).toThrow('embedding');
    const wide = { model: 'e', input: 'a', dimensions: 2 };
    expect(() => parseEmbed(wide, catalog, LENIENT)).toThrow(
      expect.objectContaining({ param: 'dimensions' }),
    );
  });
});
