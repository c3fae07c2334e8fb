import { describe, expect, it } from '@jest/globals';
import { type TextBackendInfo } from '@switchyard/engine-api/text-backend.port.js';
import { parseGenerationParams } from './generation-params.js';

const INFO: TextBackendInfo = {
  contextTokens: 64,
  rows: 2,
  stepTokens: 16,
  model: 'm',
  device: 'cpu',
  revision: 'r',
  chat: true,
  grammar: true,
};
const NO_GRAMMAR = { ...INFO, grammar: false };
const json = (body: object) => Buffer.from(JSON.stringify(body));
const messages = [{ role: 'user', content: 'hi' }];
const chat = (fields: object, info = INFO) =>
  parseGenerationParams({ form: 'chat', body: json({ model: 'm', messages, ...fields }) }, info);
const grammarOf = (fields: object) => chat(fields).sampling.grammar;
const completion = (fields: object) =>
  parseGenerationParams(
    { form: 'completion', body: json({ model: 'm', prompt: 'hi', ...fields }) },
    INFO,
  );
const tools = [{ type: 'function', function: { name: 'look' } }];
const schema = { type: 'object' };

describe('what is read of a body', () => {
  it('has the defaults of OpenAI, and null is absent', () => {
    const fields = {
      temperature: null,
      stop: null,
      n: null,
      logprobs: null,
      response_format: null,
      tools: null,
    };
    expect(chat(fields)).toEqual({
      form: 'chat',
      n: 1,
      stop: [],
      includeUsage: false,
      tokenIds: false,
      clampsTokens: false,
      begun: [],
      prompts: [{ type: 'chat', messages: [{ role: 'user', content: 'hi' }] }],
      sampling: {
        temperature: 1,
        topP: 1,
        topK: 0,
        minP: 0,
        frequencyPenalty: 0,
        presencePenalty: 0,
        repeatPenalty: 1,
      },
    });
  });

  it.each([
    [{ response_format: { type: 'json_object', schema } }, 'json_schema'],
    [{ response_format: { type: 'json_schema', schema } }, 'json_schema'],
    [{ json_schema: schema }, 'json_schema'],
    [{ regex: '[a-z]+' }, 'regex'],
    [{ ebnf: 'root ::= "a"' }, 'gbnf'],
  ])('has the grammars of other servers: %j', (fields, type) => {
    expect(grammarOf(fields)).toMatchObject({ type });
  });

  it('takes from the model what a request does not say', () => {
    const info = { ...INFO, sampling: { temperature: 0.2, top_p: 0.9 } };
    expect(chat({ temperature: 0.7, top_p: null }, info).sampling).toMatchObject({
      temperature: 0.7,
      topP: 0.9,
    });
  });

  it('ignores fields that nobody knows', () => {
    expect(chat({ store: true, metadata: { a: 'b' }, user: 'u', reasoning_effort: 'low' }).n).toBe(
      1,
    );
  });

  it('joins text parts, and takes `developer` for `system`', () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    expect(chat({ messages: [{ role: 'developer', content: parts }] }).prompts).toEqual([
      { type: 'chat', messages: [{ role: 'system', content: 'ab' }] },
    ]);
  });

  it('takes texts, tokens and lists of either as prompts', () => {
    expect(completion({ prompt: ['a', 'b'] }).prompts).toHaveLength(2);
    expect(completion({ prompt: [1, 2] }).prompts).toEqual([{ type: 'tokens', tokens: [1, 2] }]);
    expect(completion({ prompt: [[1], [2]] }).prompts).toHaveLength(2);
  });

  it('reads seeds of any size, and gives biases their token ids', () => {
    expect(chat({ seed: 2 ** 32 + 7 }).seed).toBe(7);
    expect(chat({ seed: -1 }).seed).toBe(2 ** 32 - 1);
    expect(chat({ logit_bias: { '50256': -100 } }).sampling.logitBias).toEqual(
      new Map([[50256, -100]]),
    );
  });

  it('takes response formats, grammars and tools where the model has them', () => {
    const format = { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } };
    expect(grammarOf({ response_format: format })).toEqual({ type: 'json_schema', schema });
    expect(grammarOf({ response_format: { type: 'text' } })).toBeUndefined();
    expect(grammarOf({ grammar: 'root ::= "a"' })).toMatchObject({
      type: 'gbnf',
      text: 'root ::= "a"',
    });
    expect(chat({ tools, parallel_tool_calls: false }).tools).toEqual({
      parallel: false,
      custom: [],
      texts: [],
    });
    expect(chat({ tools, tool_choice: 'none' }).tools).toBeUndefined();
    expect(chat({ response_format: { type: 'text' } }, NO_GRAMMAR).n).toBe(1);
  });

  it('makes a grammar of `tool_choice` where it forces a call', () => {
    const given = [...tools, { type: 'function', function: { name: 'go', parameters: schema } }];
    const look = { name: 'look', path: 'tools[0].function.parameters' };
    const go = { name: 'go', path: 'tools[1].function.parameters', parameters: schema };
    const calls = (called: readonly object[], several: boolean) => ({
      type: 'tool_calls',
      tools: called,
      several,
    });
    const forced = { tools: given, tool_choice: 'required' };
    const required = chat({ ...forced, response_format: { type: 'json_object' } });
    expect(required.sampling.grammar).toEqual(calls([look, go], true));
    expect(grammarOf({ ...forced, parallel_tool_calls: false })).toEqual(calls([look, go], false));
    const choice = { type: 'function', function: { name: 'go' } };
    const named = chat({ tools: given, tool_choice: choice });
    expect(named.sampling.grammar).toEqual(calls([go], false));
    expect([required.tools, named.tools]).toEqual([
      { parallel: true, custom: [], texts: [] },
      { parallel: false, custom: [], texts: [], named: true },
    ]);
    expect(grammarOf({ tools: given })).toBeUndefined();
  });

  it.each([
    ['guided_json', schema, { type: 'json_schema', schema }],
    ['guided_json', '{"type":"object"}', { type: 'json_schema', schema }],
    ['guided_regex', 'a+', { type: 'regex', pattern: 'a+' }],
    [
      'guided_choice',
      ['yes', 'a "b"\n'],
      { type: 'gbnf', text: 'root ::= "yes" | "a \\u0022b\\u0022\\u000a"' },
    ],
    ['guided_grammar', 'root ::= "a"', { type: 'gbnf', text: 'root ::= "a"' }],
  ])('holds the answer by %s: %j, in structured_outputs, too', (name, value, grammar) => {
    expect(grammarOf({ [name]: value })).toEqual({ ...grammar, param: name });
    expect(completion({ [name]: value }).sampling.grammar).toEqual({ ...grammar, param: name });
    const inside = name.replace('guided_', '');
    const param = `structured_outputs.${inside}`;
    expect(grammarOf({ structured_outputs: { [inside]: value } })).toEqual({ ...grammar, param });
  });

  it('takes a type of tool for a function where none is given, and leaves out what is none', () => {
    const given = [{ type: 'web_search' }, { function: { name: 'a.b', parameters: schema } }];
    const { sampling } = chat({ tools: given, tool_choice: 'required' });
    const tool = { name: 'a.b', path: 'tools[1].function.parameters', parameters: schema };
    expect(sampling.grammar).toEqual({ type: 'tool_calls', tools: [tool], several: true });
    expect(chat({ tools: [{ type: 'web_search' }] }).tools).toBeUndefined();
  });

  it('has a custom tool as a function with one text, in the history and where it is forced, too', () => {
    const custom = { name: 'patch', description: 'a patch' };
    const given = [{ type: 'custom', custom }];
    const said = { type: 'custom', id: 'c', custom: { name: 'patch', input: '+a' } };
    const history = [...messages, { role: 'assistant', tool_calls: [said] }];
    const choice = { type: 'custom', custom: { name: 'patch' } };
    const read = chat({ tools: given, tool_choice: choice, messages: history });
    const parameters = {
      type: 'object',
      required: ['input'],
      additionalProperties: false,
      properties: { input: { type: 'string' } },
    };
    const called = { name: 'patch', arguments: '{"input":"+a"}' };
    expect(read.prompts).toEqual([
      {
        type: 'chat',
        messages: [
          messages[0],
          {
            role: 'assistant',
            content: '',
            tool_calls: [{ type: 'function', id: 'c', function: called }],
          },
        ],
        tools: [{ type: 'function', function: { ...custom, parameters } }],
      },
    ]);
    expect(read.sampling.grammar).toMatchObject({ tools: [{ name: 'patch', parameters }] });
  });

  it('has the allowed tools only, and forces them where the mode does', () => {
    const given = [...tools, { type: 'function', function: { name: 'go' } }];
    const allowed = (mode: string) => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: [{ type: 'function', function: { name: 'go' } }] },
    });
    const auto = chat({ tools: given, tool_choice: allowed('auto') });
    expect(auto.prompts).toMatchObject([
      { tools: [{ type: 'function', function: { name: 'go' } }] },
    ]);
    expect(auto.sampling.grammar).toBeUndefined();
    expect(grammarOf({ tools: given, tool_choice: allowed('required') })).toMatchObject({
      tools: [{ name: 'go', path: 'tools[1].function.parameters' }],
    });
    expect(chat({ tools: given, tool_choice: allowed('none') }).tools).toBeUndefined();
  });

  it.each([
    ['temperature', { temperature: 2.1 }],
    ['stop', { stop: ['a', 'b', 'c', 'd', 'e'] }],
    ['stop', { stop: '' }],
    ['top_logprobs', { top_logprobs: 2 }],
    ['logit_bias', { logit_bias: { a: 1 } }],
    ['logit_bias', { logit_bias: { 1: 101 } }],
    ['response_format.type', { response_format: { type: 'xml' } }],
    ['grammar', { grammar: 'x', response_format: { type: 'json_object' } }],
    ['tools[0].function.parameters', { tools: [{ function: { name: 'look', parameters: 5 } }] }],
    ['messages[0].tool_calls[0]', { messages: [{ role: 'assistant', tool_calls: [5] }] }],
    [
      'messages[0].tool_calls[0].function.arguments',
      {
        messages: [
          { role: 'assistant', tool_calls: [{ function: { name: 'look', arguments: 5 } }] },
        ],
      },
    ],
    ['tools[0].function.name', { tools: [{ type: 'function', function: { name: 'look up' } }] }],
    [
      'messages[0].content[0].type',
      { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
    ],
    ['messages[0].role', { messages: [{ role: 'wizard', content: 'x' }] }],
    ['tool_choice', { tool_choice: 'required' }],
    [
      'tool_choice.function.name',
      { tools, tool_choice: { type: 'function', function: { name: 'lock' } } },
    ],
    ['tools', { tools: Array.from({ length: 1025 }, () => tools[0]) }],
    ['guided_json', { guided_json: 'no json' }],
    ['guided_choice', { guided_choice: [] }],
    ['guided_regex', { guided_regex: 'a+', guided_choice: ['a'] }],
    ['structured_outputs.regex', { structured_outputs: { regex: 5 } }],
    [
      'response_format',
      { response_format: { type: 'json_object' }, structured_outputs: { regex: 'a' } },
    ],
    ['grammar', { tools, tool_choice: 'required', grammar: 'root ::= "a"' }],
  ])('refuses a wrong %s by its name', (param, fields) => {
    expect(() => chat(fields)).toThrow(expect.objectContaining({ code: 'invalid_value', param }));
  });

  it.each([
    ['suffix', () => completion({ suffix: 'x' })],
    ['echo', () => completion({ echo: true })],
    ['best_of', () => completion({ best_of: 3 })],
    ['modalities', () => chat({ modalities: ['audio'] })],
    ['tool_choice', () => chat({ tools, tool_choice: 'required' }, NO_GRAMMAR)],
    [
      'tool_choice.type',
      () => chat({ tools, tool_choice: { type: 'mcp', mcp: { name: 'look' } } }),
    ],
    ['guided_choice', () => chat({ guided_choice: ['a'] }, NO_GRAMMAR)],
    [
      'structured_outputs.structural_tag',
      () => chat({ structured_outputs: { structural_tag: '{}' } }),
    ],
    ['response_format', () => chat({ response_format: { type: 'json_object' } }, NO_GRAMMAR)],
  ])('says of %s that it cannot be honoured', (param, read) => {
    expect(read).toThrow(expect.objectContaining({ code: 'unsupported_parameter', param }));
  });
});
