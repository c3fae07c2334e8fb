import { beforeEach, describe, expect, it } from '@jest/globals';
import { IgnoredFields } from '../../../contracts/openai/ignored-fields.js';
import { type ResponseItem } from '../../../contracts/openai/response-items.js';
import { type ResponseObject } from '../../../contracts/openai/responses.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type ModelSpec } from '../../../platform/config/model-spec.js';
import { type ModelCatalog } from '../../models/model-catalog.js';
import { compactionOf, parseInputCount, parseResponse } from './parse-response.js';

const catalog = {
  getOfKind: (id: string) => ({ id, engine: 'llama-cpp' }) as ModelSpec,
} as unknown as ModelCatalog;

let ignored: IgnoredFields;
let ids: number;
beforeEach(() => {
  ignored = new IgnoredFields();
  ids = 0;
});

const options = (stores: boolean) => ({
  catalog,
  newId: (prefix: string) => `${prefix}_${ids++}`,
  stores,
  ignored,
});
const parsed = (fields: object, stores = false) =>
  parseResponse({ model: 'm', input: 'hi', ...fields }, options(stores)).request;

function errorOf(fields: object, stores = false): Pick<DomainError, 'code' | 'param' | 'message'> {
  try {
    parsed(fields, stores);
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

describe('the body of a response', () => {
  it('has defaults, and stores only where it can', () => {
    expect(parsed({})).toMatchObject({
      tools: [],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      truncation: 'disabled',
      metadata: {},
      reasoning: null,
      store: false,
      background: false,
      stream: false,
      text: { format: { type: 'text' } },
      input: [
        {
          type: 'message',
          id: 'msg_0',
          role: 'user',
          content: [{ type: 'input_text', text: 'hi' }],
        },
      ],
    });
    expect(parsed({}, true).store).toBe(true);
    expect(parsed({ store: false }, true).store).toBe(false);
    expect(parsed({ store: false }).store).toBe(false);
  });

  it('has items of all kinds, each with an id', () => {
    const { input } = parsed({
      input: [
        { role: 'developer', content: 'be short' },
        {
          type: 'reasoning',
          id: 'rs_x',
          summary: [{ type: 'summary_text', text: 's' }],
          encrypted_content: 'e',
        },
        { role: 'assistant', content: 'yes' },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '' },
        { type: 'function_call_output', call_id: 'c', output: '' },
        { id: 'msg_y' },
      ],
    });
    expect(input).toEqual([
      expect.objectContaining({ role: 'developer', id: 'msg_0' }),
      expect.objectContaining({
        id: 'rs_x',
        summary: [{ type: 'summary_text', text: 's' }],
        encrypted_content: 'e',
      }),
      expect.objectContaining({
        content: [{ type: 'output_text', text: 'yes', annotations: [], logprobs: [] }],
      }),
      {
        type: 'function_call',
        id: 'fc_2',
        call_id: 'c',
        name: 'f',
        arguments: '',
        status: 'completed',
      },
      { type: 'function_call_output', id: 'fco_3', call_id: 'c', output: '', status: 'completed' },
      { type: 'item_reference', id: 'msg_y' },
    ]);
  });

  it.each([
    'web_search',
    'file_search',
    'code_interpreter',
    'computer_use_preview',
    'image_generation',
    'mcp',
  ])(
    'leaves out and reports an offered %s, and refuses it if it is demanded or nothing may be ignored',
    type => {
      const tools = [{ type: 'function', name: 'f' }, { type }];
      expect(parsed({ tools }).tools).toMatchObject([{ name: 'f' }]);
      expect(ignored.paths).toEqual(['tools[1]']);
      const refused = {
        code: 'unsupported_parameter',
        message: expect.stringContaining(`\`${type}\``),
      };
      expect(errorOf({ tools, tool_choice: { type } })).toMatchObject({
        ...refused,
        param: 'tool_choice.type',
      });
      const tool_choice = { type: 'allowed_tools', mode: 'required', tools: [{ type }] };
      expect(errorOf({ tools, tool_choice })).toMatchObject({
        ...refused,
        param: 'tool_choice.tools[0].type',
      });
      ignored = new IgnoredFields(true);
      expect(errorOf({ tools })).toMatchObject({ ...refused, param: 'tools[1]' });
    },
  );

  it('has functions, custom tools and namespaces of those, and choices among them', () => {
    const f = { type: 'function', name: 'f', description: null, parameters: null, strict: null };
    const custom = { type: 'custom', name: 'patch', description: 'a patch' };
    const format = { type: 'grammar', syntax: 'lark', definition: '' };
    const space = { type: 'namespace', name: 'agents', description: null, tools: [f, custom] };
    const given = [
      f,
      { ...custom, format },
      { ...space, tools: [f, { type: 'web_search' }, custom] },
    ];
    expect(parsed({ tools: given }).tools).toEqual([f, custom, space]);
    expect(ignored.paths).toEqual(['tools[1].format', 'tools[2].tools[1]']);
    const tools = [space];
    for (const tool_choice of [
      { type: 'function', name: 'f', namespace: 'agents' },
      { type: 'custom', name: 'patch' },
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'agents__f' }] },
    ])
      expect(parsed({ tools, tool_choice }).tool_choice).toEqual(tool_choice);
    const elsewhere = { type: 'function', name: 'f', namespace: 'b' };
    expect(errorOf({ tools, tool_choice: elsewhere })).toMatchObject({ param: 'tool_choice.name' });
  });

  it('has the calls of other servers as those of functions, and leaves out what no model here reads', () => {
    const { input } = parsed({
      input: [
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        { type: 'custom_tool_call', call_id: 'a', name: 'patch', namespace: 'n', input: '' },
        {
          type: 'custom_tool_call_output',
          call_id: 'a',
          output: [{ type: 'output_text', text: 'done' }],
        },
        {
          type: 'local_shell_call',
          call_id: 'b',
          action: { type: 'exec', command: ['ls'] },
          status: 'completed',
        },
        {
          type: 'function_call_output',
          call_id: 'b',
          output: [{ type: 'output_text', text: 'x' }],
        },
        { type: 'apply_patch_call', call_id: 'c', operation: { type: 'delete_file', path: 'x' } },
        { type: 'apply_patch_call_output', call_id: 'c', status: 'completed' },
        { type: 'shell_call_output', call_id: 'c', output: [{ stdout: 'x' }] },
        { type: 'compaction', encrypted_content: 'e' },
      ],
    });
    expect(input).toMatchObject([
      { type: 'custom_tool_call', id: 'ctc_0', name: 'patch', namespace: 'n', input: '' },
      {
        type: 'custom_tool_call_output',
        call_id: 'a',
        output: [{ type: 'input_text', text: 'done' }],
      },
      { type: 'function_call', name: 'local_shell', arguments: '{"type":"exec","command":["ls"]}' },
      { type: 'function_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'x' }] },
      {
        type: 'function_call',
        name: 'apply_patch',
        arguments: '{"type":"delete_file","path":"x"}',
      },
      { type: 'function_call_output', call_id: 'c', output: '{}' },
      { type: 'function_call_output', call_id: 'c', output: '[{"stdout":"x"}]' },
    ]);
    expect(ignored.paths).toEqual(['input[0]', 'input[8]']);
  });

  it.each([
    [
      { input: [{ type: 'custom_tool_call', call_id: 'c', name: 'f' }] },
      'missing_required_parameter',
      'input[0].input',
    ],
    [
      { tools: Array.from({ length: 1025 }, () => ({ type: 'function', name: 'f' })) },
      'invalid_value',
      'tools',
    ],
    [{ input: [{ role: 'user' }] }, 'missing_required_parameter', 'input[0].content'],
    [{ input: [{ role: 'narrator', content: '' }] }, 'invalid_value', 'input[0].role'],
    [{ input: ['hi'] }, 'invalid_value', 'input[0]'],
    [{ input: 7 }, 'invalid_value', 'input'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_file' }] }] },
      'invalid_value',
      'input[0].content[0].type',
    ],
    [
      { input: [{ type: 'function_call_output', output: '' }] },
      'missing_required_parameter',
      'input[0].call_id',
    ],
    [{ max_output_tokens: 15 }, 'invalid_value', 'max_output_tokens'],
    [{ temperature: 2.1 }, 'invalid_value', 'temperature'],
    [{ top_logprobs: 21 }, 'invalid_value', 'top_logprobs'],
    [{ truncation: 'middle' }, 'invalid_value', 'truncation'],
    [{ include: ['everything'] }, 'invalid_value', 'include'],
    [{ metadata: { key: 1 } }, 'invalid_value', 'metadata'],
    [{ metadata: { key: 'x'.repeat(513) } }, 'invalid_value', 'metadata'],
    [
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [at, ''])) },
      'invalid_value',
      'metadata',
    ],
    [{ tool_choice: 'required' }, 'invalid_value', 'tool_choice'],
    [{ tool_choice: { type: 'function', name: 'g' } }, 'invalid_value', 'tool_choice.name'],
    [{ tools: [{ type: 'function', name: 'a b' }] }, 'invalid_value', 'tools[0].name'],
    [{ tools: [{ type: 'function' }] }, 'missing_required_parameter', 'tools[0].name'],
    [
      { text: { format: { type: 'json_schema', name: 'n' } } },
      'missing_required_parameter',
      'text.format.schema',
    ],
    [{ text: { format: { type: 'xml' } } }, 'invalid_value', 'text.format.type'],
    [{ safety_identifier: 'x'.repeat(65) }, 'invalid_value', 'safety_identifier'],
    [{ conversation: 'conv_1' }, 'unsupported_parameter', 'conversation'],
    [{ prompt: { id: 'pmpt_1' } }, 'unsupported_parameter', 'prompt'],
  ])('%j is %s of %s', (fields, code, param) => {
    expect(errorOf(fields)).toMatchObject({ code, param });
  });

  it.each(['store', 'background', 'previous_response_id'])('has no %s without a store', field => {
    const value = field === 'previous_response_id' ? 'resp_1' : true;
    expect(errorOf({ [field]: value })).toMatchObject({
      code: 'unsupported_parameter',
      param: field,
    });
    expect(parsed({ [field]: value }, true)).toMatchObject({ [field]: value });
  });

  it('runs in the background only what it stores', () => {
    expect(errorOf({ background: true, store: false }, true)).toMatchObject({ param: 'store' });
  });

  it('names the advice that has no effect, or refuses it where nothing may be ignored', () => {
    const advice = {
      prompt_cache_key: 'k',
      truncation: 'auto',
      reasoning: { effort: 'low' },
      text: { verbosity: 'low' },
      stream_options: { include_obfuscation: true },
      include: ['reasoning.encrypted_content'],
    };
    parsed(advice);
    expect([...ignored.paths].sort()).toEqual([
      'include',
      'prompt_cache_key',
      'stream_options.include_obfuscation',
      'text.verbosity',
      'truncation',
    ]);
    ignored = new IgnoredFields(true);
    expect(errorOf({ prompt_cache_key: 'k' })).toMatchObject({ code: 'unsupported_parameter' });
  });

  it('is counted by one token without conditions', () => {
    const tools = [{ type: 'function', name: 'f' }];
    const text = { format: { type: 'json_object' } };
    const { request } = parseInputCount(
      { model: 'm', input: 'hi', tools, tool_choice: 'required', text },
      options(false),
    );
    expect(request).toMatchObject({
      max_output_tokens: 1,
      tool_choice: 'auto',
      text: { format: { type: 'text' } },
    });
    expect(request.tools).toHaveLength(1);
  });

  it('is compacted to what the model said itself where that writes no summary', () => {
    const said = { role: 'assistant', content: 'It sorts wagons.' };
    const { input } = parsed({ input: [{ role: 'user', content: 'What does it do?' }, said] });
    const answer = Buffer.from(JSON.stringify({ choices: [{ message: { content: ' ' } }] }));
    const { output } = compactionOf(
      { id: 'resp_1', created_at: 1 } as ResponseObject,
      input as readonly ResponseItem[],
      answer,
    ) as { output: object[] };
    expect(output).toMatchObject([{ role: 'user' }, { type: 'compaction' }]);
    const [, again] = parsed({ input: output }).input;
    expect(JSON.stringify(again)).toContain('It sorts wagons.');
  });
});
