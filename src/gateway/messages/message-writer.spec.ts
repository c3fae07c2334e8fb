import { describe, expect, it } from '@jest/globals';
import { MessageWriter } from './message-writer.js';

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
