import { describe, expect, it } from '@jest/globals';
import { aRequest } from '../../../../test/support/response-schema.js';
import { type ResponseEvent } from '../../../contracts/openai/responses.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type GenerationPiece } from '../../text/generation-pieces.js';
import { newResponse } from '../parse/response-object.js';
import { ResponseWriter } from './response-writer.js';

const head = { id: 'resp_ab12', created_at: 100, model: 'm', service_tier: 'default' };
const aWriter = (): ResponseWriter => new ResponseWriter(newResponse(aRequest(), head));

const PIECES: readonly GenerationPiece[] = [
  { type: 'reasoning', text: 'Let me ' },
  { type: 'reasoning', text: 'see.' },
  { type: 'text', text: 'I ask' },
  { type: 'text', text: ' them.' },
  {
    type: 'tool_call',
    index: 0,
    callId: 'call_a',
    name: 'weather',
    arguments: '{"at":',
  },
  { type: 'tool_call', index: 0, arguments: '1}' },
  { type: 'text', text: '\n' },
  { type: 'tool_call', index: 1, callId: 'call_b', name: 'weather', arguments: '{}' },
  { type: 'finish', reason: 'tool_calls' },
  {
    type: 'usage',
    usage: {
      input_tokens: 3,
      output_tokens: 4,
      total_tokens: 7,
      input_tokens_details: { cached_tokens: 1, cache_write_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 2 },
    },
  },
];

function all(writer: ResponseWriter, pieces: readonly GenerationPiece[]): readonly ResponseEvent[] {
  return [...writer.begin(), ...pieces.flatMap(piece => writer.take(piece)), ...writer.end(105)];
}

const custom = { type: 'custom', name: 'patch', description: null } as const;
const spawn = {
  type: 'function',
  name: 'spawn',
  description: null,
  parameters: null,
  strict: null,
} as const;
const tools = [
  custom,
  { type: 'namespace', name: 'agents', description: null, tools: [spawn] },
] as const;
const CALLS: readonly GenerationPiece[] = [
  {
    type: 'tool_call',
    index: 0,
    callId: 'a',
    name: 'patch',
    arguments: '{"input":"one \\"}\\""}',
  },
  { type: 'tool_call', index: 1, callId: 'b', name: 'agents__spawn', arguments: '{}' },
];
const aCallingWriter = (): ResponseWriter =>
  new ResponseWriter(newResponse(aRequest({ tools }), head));

const typesOf = (events: readonly ResponseEvent[]): string[] =>
  events.map(({ type }) => type.replace('response.', ''));

describe('ResponseWriter', () => {
  it('tells of a text by its beginning, its pieces, and the whole of it', () => {
    const events = all(aWriter(), PIECES.slice(2, 4));
    expect(typesOf(events)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
    expect(events.map(event => event.sequence_number)).toEqual(events.map((_, at) => at));
    expect(events[2]).toMatchObject({ item: { status: 'in_progress', content: [] } });
    expect(events[6]).toMatchObject({
      text: 'I ask them.',
      content_index: 0,
      output_index: 0,
    });
  });

  it('has an item for each thought, message and call, with one id in the stream and in the response', () => {
    const writer = aWriter();
    const events = all(writer, PIECES);
    const { output, status, completed_at, usage } = writer.response;
    expect(output.map(({ type, id }) => `${type} ${id}`)).toEqual([
      'reasoning rs_ab120000',
      'message msg_ab120001',
      'function_call fc_ab120002',
      'function_call fc_ab120003',
    ]);
    expect(output[2]).toMatchObject({
      call_id: 'call_a',
      name: 'weather',
      arguments: '{"at":1}',
      status: 'completed',
    });
    expect({ status, completed_at, total: usage?.total_tokens }).toEqual({
      status: 'completed',
      completed_at: 105,
      total: 7,
    });
    const ids = new Set(events.flatMap(event => ('item_id' in event ? [event.item_id] : [])));
    expect([...ids]).toEqual(output.map(({ id }) => id));
    const added = events.filter(event => event.type === 'response.output_item.added');
    expect(added).toHaveLength(4);
    expect(events.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { output, usage },
    });
  });

  it.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ])('ends incomplete by %s, and so does what was said last', (finish, reason) => {
    const writer = aWriter();
    const events = all(writer, [PIECES[2]!, { type: 'finish', reason: finish }]);
    expect(events.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: {
        status: 'incomplete',
        incomplete_details: { reason },
        completed_at: null,
      },
    });
    expect(writer.response.output).toMatchObject([
      { status: 'incomplete', content: [{ text: 'I ask' }] },
    ]);
  });

  it('keeps what a failed response had said, and says why it failed', () => {
    const writer = aWriter();
    const failure = new DomainError('worker_lost', 'gone');
    const events = [...writer.begin(), ...writer.take(PIECES[2]!), ...writer.fail(failure)];
    expect(typesOf(events).slice(-3)).toEqual(['output_item.done', 'error', 'failed']);
    expect(writer.response).toMatchObject({
      status: 'failed',
      error: { code: 'worker_lost', message: 'gone' },
      completed_at: null,
      output: [{ status: 'incomplete', content: [{ text: 'I ask' }] }],
    });
  });

  it('tells of a refusal and of log probabilities', () => {
    const writer = aWriter();
    const scored = [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }];
    const events = all(writer, [
      { type: 'text', text: 'a', logprobs: scored },
      { type: 'refusal', text: 'No.' },
    ]);
    expect(typesOf(events)).toEqual(expect.arrayContaining(['refusal.delta', 'refusal.done']));
    expect(writer.response.output).toMatchObject([
      { content: [{ type: 'output_text', logprobs: scored }] },
      { content: [{ type: 'refusal', refusal: 'No.' }] },
    ]);
  });

  it.each([
    ['nothing', [], ['message']],
    ['thoughts only', [{ type: 'reasoning', text: 'Hm.' }], ['reasoning', 'message']],
  ] as const)('of %s ends with an empty text, unless it hit its limit', (_, said, items) => {
    const writer = aWriter();
    const events = all(writer, [...said, { type: 'finish', reason: 'stop' }]);
    const { output } = writer.response;
    expect(output.map(({ type }) => type)).toEqual(items);
    expect(output.at(-1)).toMatchObject({
      status: 'completed',
      content: [{ type: 'output_text', text: '' }],
    });
    const ofMessage = events.slice(-6).map(({ type }) => type.replace('response.', ''));
    expect(ofMessage).toEqual([
      'output_item.added',
      'content_part.added',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
    const cut = aWriter();
    all(cut, [...said, { type: 'finish', reason: 'length' }]);
    expect(cut.response.output).toHaveLength(said.length);
  });

  it('says that it is queued before it begins', () => {
    const writer = aWriter();
    const events = [...writer.queued(), ...writer.begin()];
    expect(typesOf(events)).toEqual(['created', 'queued', 'in_progress']);
    expect(events.map(event => ('response' in event ? event.response.status : ''))).toEqual([
      'queued',
      'queued',
      'in_progress',
    ]);
  });

  it('goes on after each of its events as if it had never stopped', () => {
    const pieces = [
      ...PIECES.slice(0, 4),
      { type: 'refusal', text: 'No' },
      ...PIECES.slice(4),
    ] as GenerationPiece[];
    const whole = all(aWriter(), pieces);
    for (let stop = 0; stop <= pieces.length; stop++) {
      const first = aWriter();
      const before = [
        ...first.begin(),
        ...pieces.slice(0, stop).flatMap(piece => first.take(piece)),
      ];
      const second = ResponseWriter.resumed(before);
      expect(second.response.output).toEqual(first.response.output);
      const rest = [...pieces.slice(stop), PIECES.at(-1)!].flatMap(piece => second.take(piece));
      expect([...before, ...rest, ...second.end(105)]).toEqual(whole);
    }
  });

  it('does not tell again of calls that were told, when a generation starts over', () => {
    const writer = aWriter();
    const before = [...writer.begin(), ...PIECES.slice(4, 8).flatMap(piece => writer.take(piece))];
    const again = ResponseWriter.resumed(before);
    expect(again.take(PIECES[4]!)).toEqual([]);
    expect(again.response.output).toEqual(writer.response.output);
  });

  it('restores custom tools and namespaces, and goes on after each of their events', () => {
    const whole = all(aCallingWriter(), CALLS);
    expect(typesOf(whole).slice(2, -1)).toEqual([
      'output_item.added',
      'custom_tool_call_input.delta',
      'custom_tool_call_input.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
    ]);
    expect(whole.at(-1)).toMatchObject({
      response: {
        output: [
          {
            type: 'custom_tool_call',
            id: 'ctc_ab120000',
            call_id: 'a',
            name: 'patch',
            input: 'one "}"',
          },
          {
            type: 'function_call',
            call_id: 'b',
            name: 'spawn',
            namespace: 'agents',
            arguments: '{}',
          },
        ],
      },
    });
    for (let stop = 0; stop <= CALLS.length; stop++) {
      const first = aCallingWriter();
      const before = [
        ...first.begin(),
        ...CALLS.slice(0, stop).flatMap(piece => first.take(piece)),
      ];
      const second = ResponseWriter.resumed(before);
      expect([
        ...before,
        ...CALLS.slice(stop).flatMap(piece => second.take(piece)),
        ...second.end(105),
      ]).toEqual(whole);
    }
  });

  it.each([
    [['{"in', 'put":"', 'a}"}'], 'a}'],
    [['{"input":"a', '}'], '{"input":"a}'],
    [['{"diff":1}'], '{"diff":1}'],
  ])('reads the text of a custom tool from pieces %j', (pieces, input) => {
    const writer = aCallingWriter();
    const first = {
      type: 'tool_call',
      index: 0,
      callId: 'a',
      name: 'patch',
      arguments: pieces[0]!,
    } as const;
    const rest = pieces
      .slice(1)
      .map(piece => ({ type: 'tool_call', index: 0, arguments: piece }) as const);
    const events = all(writer, [first, ...rest]);
    expect(typesOf(events)).toContain('custom_tool_call_input.delta');
    expect(writer.response.output).toMatchObject([
      { type: 'custom_tool_call', input, status: 'completed' },
    ]);
  });
});
