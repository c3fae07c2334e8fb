import { describe, expect, it } from '@jest/globals';
import { aRequest } from '../../../../test/support/response-schema.js';
import { type ResponseItem } from '../../../contracts/openai/response-items.js';
import { type ResponseRequest } from '../../../contracts/openai/responses.js';
import { type ModelCatalog } from '../../models/model-catalog.js';
import { renamed } from '../../text/param-names.js';
import { readInput } from '../parse/parse-response.js';
import { generationOf, PARAMS_OF_RESPONSE } from './response-generation.js';

const itemsOf = (input: unknown): readonly ResponseItem[] =>
  readInput(input, prefix => prefix) as ResponseItem[];

const capabilities = ['chat', 'tools', 'images', 'logprobs', 'json_schema'];
const model = { id: 'm', kind: 'llm', engine: 'openai-http', capabilities };
const catalog = { getOfKind: () => model } as unknown as ModelCatalog;
const chatOfResponse = (
  request: ResponseRequest,
  items: readonly ResponseItem[],
): Record<string, unknown> =>
  JSON.parse(generationOf(request, items, catalog).body.toString()) as never;

const messagesOf = (input: unknown, request: Partial<ResponseRequest> = {}): unknown =>
  chatOfResponse(aRequest(request), itemsOf(input)).messages;

describe('a response as a chat', () => {
  it('begins with the instructions; a text is what the user says', () => {
    expect(messagesOf('hi', { instructions: 'be short' })).toEqual([
      { role: 'system', content: 'be short' },
      { role: 'user', content: 'hi' },
    ]);
  });

  it('makes one message of what a model thought, said and called', () => {
    const call = (id: string) => ({
      type: 'function_call',
      call_id: id,
      name: 'f',
      arguments: '{}',
    });
    expect(
      messagesOf([
        { role: 'user', content: 'weather?' },
        {
          type: 'reasoning',
          summary: [],
          content: [{ type: 'reasoning_text', text: 'hm' }],
        },
        { role: 'assistant', content: [{ type: 'output_text', text: 'I ask.' }] },
        call('a'),
        call('b'),
        { type: 'function_call_output', call_id: 'a', output: 'rain' },
        {
          type: 'function_call_output',
          call_id: 'b',
          output: [{ type: 'input_text', text: 'sun' }],
        },
        call('c'),
      ]),
    ).toEqual([
      { role: 'user', content: 'weather?' },
      {
        role: 'assistant',
        content: 'I ask.',
        reasoning_content: 'hm',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
          { id: 'b', type: 'function', function: { name: 'f', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'rain' },
      { role: 'tool', tool_call_id: 'b', content: 'sun' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: expect.anything() }],
      },
    ]);
  });

  it('shows images beside texts', () => {
    const content = [
      { type: 'input_text', text: 'what is it?' },
      { type: 'input_image', image_url: 'https://example.org/a.png' },
    ];
    expect(messagesOf([{ role: 'user', content }])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'what is it?' },
          {
            type: 'image_url',
            image_url: { url: 'https://example.org/a.png', detail: 'auto' },
          },
        ],
      },
    ]);
  });

  it('names fields as a chat does, and leaves out what was not asked for', () => {
    const schema = { type: 'object' };
    const { messages: _, ...fields } = chatOfResponse(
      aRequest({
        model: 'm',
        max_output_tokens: 20,
        temperature: 0,
        top_logprobs: 2,
        stream: true,
        text: {
          format: {
            type: 'json_schema',
            name: 'n',
            description: null,
            schema,
            strict: true,
          },
          verbosity: 'low',
        },
      }),
      itemsOf('hi'),
    );
    expect(fields).toEqual({
      model: 'm',
      max_completion_tokens: 20,
      temperature: 0,
      logprobs: true,
      top_logprobs: 2,
      verbosity: 'low',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'n', schema, strict: true },
      },
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it.each([
    ['required', 'required', ['a', 'b']],
    [{ type: 'function', name: 'b' }, { type: 'function', function: { name: 'b' } }, ['a', 'b']],
    [
      {
        type: 'allowed_tools',
        mode: 'required',
        tools: [{ type: 'function', name: 'b' }],
      },
      'required',
      ['b'],
    ],
  ] as const)('has the tools that may be called by %j', (tool_choice, chosen, usable) => {
    const tools = ['a', 'b'].map(
      name =>
        ({
          type: 'function',
          name,
          description: null,
          parameters: {},
          strict: null,
        }) as const,
    );
    const chat = chatOfResponse(aRequest({ tools, tool_choice }), itemsOf('hi'));
    expect(chat.tool_choice).toEqual(chosen);
    expect(chat.tools).toEqual(
      usable.map(name => ({ type: 'function', function: { name, parameters: {} } })),
    );
  });

  it('has custom tools and those of namespaces as functions, in its history, too', () => {
    const fields = { description: null, parameters: null, strict: null };
    const f = { type: 'function', name: 'f', ...fields } as const;
    const patch = { type: 'custom', name: 'patch', description: 'a patch' } as const;
    const tools = [
      patch,
      { type: 'namespace', name: 'agents', description: null, tools: [f] },
    ] as const;
    const tool_choice = { type: 'function', name: 'f', namespace: 'agents' } as const;
    const said = itemsOf([
      { type: 'custom_tool_call', call_id: 'a', name: 'patch', input: '*** "x"' },
      { type: 'custom_tool_call_output', call_id: 'a', output: 'done' },
      {
        type: 'function_call',
        call_id: 'b',
        name: 'f',
        namespace: 'agents',
        arguments: '{}',
      },
    ]);
    expect(chatOfResponse(aRequest({ tools, tool_choice }), said)).toMatchObject({
      tools: [
        {
          function: {
            name: 'patch',
            description: 'a patch',
            parameters: { required: ['input'] },
          },
        },
        { type: 'function', function: { name: 'agents__f' } },
      ],
      tool_choice: { type: 'function', function: { name: 'agents__f' } },
      messages: [
        {
          tool_calls: [
            {
              id: 'a',
              type: 'function',
              function: { name: 'patch', arguments: '{"input":"*** \\"x\\""}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'done' },
        { tool_calls: [{ id: 'b', function: { name: 'agents__f', arguments: '{}' } }] },
      ],
    });
  });

  it.each([
    ['messages', 'input'],
    ['messages[3].content', 'input'],
    ['max_completion_tokens', 'max_output_tokens'],
    ['response_format.json_schema.schema', 'text.format.schema'],
    ['tools[2].function.parameters', 'tools[2].parameters'],
    ['temperature', 'temperature'],
  ])('calls %s %s', (ours, theirs) => {
    expect(renamed(PARAMS_OF_RESPONSE, ours)).toBe(theirs);
  });
});
