import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../core/errors/domain-error.js';
import { type GenerationPiece } from '../text/generation-pieces.js';
import { MessageWriter, waitFrame } from './message-writer.js';

const THOUGHT = { type: 'reasoning', text: 'hm' } as const;
const SAID = { type: 'text', text: 'Yes.' } as const;

describe('thoughts of a message', () => {
  it('end with a signature, as clients expect, before the next block', () => {
    const writer = new MessageWriter('1', 'm');
    const events = [...writer.take(THOUGHT), ...writer.take(SAID)];
    expect(
      events.map(({ type, index, delta }) => [type, index, (delta as { type?: string })?.type]),
    ).toEqual([
      ['content_block_start', 0, undefined],
      ['content_block_delta', 0, 'thinking_delta'],
      ['content_block_delta', 0, 'signature_delta'],
      ['content_block_stop', 0, undefined],
      ['content_block_start', 1, undefined],
      ['content_block_delta', 1, 'text_delta'],
    ]);
  });

  it('are left out, whole and streamed, where the caller wants none', () => {
    const writer = new MessageWriter('1', 'm', false);
    expect(writer.take(THOUGHT)).toEqual([]);
    writer.take(SAID);
    expect(writer.whole().content).toEqual([{ type: 'text', text: 'Yes.' }]);
  });
});

describe('the end of a message', () => {
  const CALL = { type: 'tool_call', index: 0, callId: 'c', name: 'f', arguments: '{}' } as const;

  it.each([
    [[SAID], 'stop', undefined, 'end_turn'],
    [[SAID], 'stop', '###', 'stop_sequence'],
    [[SAID], 'length', undefined, 'max_tokens'],
    [[SAID], 'content_filter', undefined, 'refusal'],
    [[CALL], 'tool_calls', undefined, 'tool_use'],
    [[CALL], 'stop', undefined, 'tool_use'],
  ] as const)(
    'after %j, %s and the stop sequence %s has the reason %s',
    (pieces, reason, stopSequence, shown) => {
      const writer = new MessageWriter('1', 'm');
      for (const piece of pieces) writer.take(piece);
      writer.take({ type: 'finish', reason, stopSequence } as never);
      const [, end] = writer.end();
      const delta = { stop_reason: shown, stop_sequence: stopSequence ?? null };
      expect([end, writer.whole()]).toMatchObject([{ delta }, delta]);
    },
  );
});

describe('a message as events', () => {
  const call = (index: number, json: string, named: object = {}) =>
    ({ type: 'tool_call', index, arguments: json, ...named }) as const;
  const usage = (input: number, cached: number) =>
    ({
      type: 'usage',
      usage: {
        input_tokens: input,
        output_tokens: 2,
        input_tokens_details: { cached_tokens: cached },
      },
    }) as GenerationPiece;

  it('begins with the message that is empty so far, and a ping', () => {
    const [start, ping] = new MessageWriter('1', 'm').begin();
    expect(start).toMatchObject({
      type: 'message_start',
      message: { id: 'msg_1', model: 'm', content: [], stop_reason: null, stop_sequence: null },
    });
    expect(ping).toEqual({ type: 'ping' });
  });

  it('has a block for each run of text and for each call, one after the other', () => {
    const writer = new MessageWriter('1', 'm');
    const events = [
      ...writer.take(SAID),
      ...writer.take({ type: 'refusal', text: ' No.' }),
      ...writer.take(call(0, '', { callId: 'c', name: 'f' })),
      ...writer.take(call(0, '{"a":1}')),
      ...writer.take(call(1, '{}', { name: 'g' })),
      ...writer.take(usage(5, 3)),
      ...writer.end(),
    ];
    expect(events.map(({ type, index }) => [type.replace('content_block_', ''), index])).toEqual([
      ['start', 0],
      ['delta', 0],
      ['delta', 0],
      ['stop', 0],
      ['start', 1],
      ['delta', 1],
      ['stop', 1],
      ['start', 2],
      ['delta', 2],
      ['stop', 2],
      ['message_delta', undefined],
      ['message_stop', undefined],
    ]);
    expect(events[5]).toMatchObject({
      delta: { type: 'input_json_delta', partial_json: '{"a":1}' },
    });
    expect(events[7]).toMatchObject({ content_block: { id: 'msg_1_1', name: 'g', input: {} } });
    const counted = { input_tokens: 2, cache_read_input_tokens: 3, cache_creation_input_tokens: 0 };
    expect(events.at(-2)).toMatchObject({ usage: { ...counted, output_tokens: 2 } });
    expect(writer.whole().content).toEqual([
      { type: 'text', text: 'Yes. No.' },
      { type: 'tool_use', id: 'c', name: 'f', input: { a: 1 } },
      { type: 'tool_use', id: 'msg_1_1', name: 'g', input: {} },
    ]);
    expect(writer.frame({ type: 'ping' })).toBe('event: ping\ndata: {"type":"ping"}\n\n');
    expect(new MessageWriter('1', 'm').end()).toHaveLength(2);
  });

  it('names the field at fault as the caller sent it', () => {
    const error = new DomainError('invalid_value', '`stop` is wrong.', { param: 'stop' });
    expect(new MessageWriter('1', 'm').fail(error)).toMatchObject([
      { error: { message: expect.stringContaining('`stop_sequences` is wrong.') } },
    ]);
  });
});

describe('what a caller is told while it waits', () => {
  const forecast = { startInMs: { p50: 1540 } } as Parameters<typeof waitFrame>[1];
  it.each([
    [undefined, undefined, 'queued'],
    [undefined, forecast, 'queued, starts in about 1.5 s'],
    [{ state: 'queued', position: 0 }, forecast, 'queued, place 0, starts in about 1.5 s'],
    [{ state: 'running' }, forecast, 'running'],
  ] as const)('is its place and when it starts: %j', (view, told, line) => {
    const frame = waitFrame(view as unknown as Parameters<typeof waitFrame>[0], told);
    expect(frame).toBe(`: ${line}\nevent: ping\ndata: {"type":"ping"}\n\n`);
  });
});
