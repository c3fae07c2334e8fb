import { describe, expect, it } from '@jest/globals';
import { MessageWriter } from './message-writer.js';

const THOUGHT = { type: 'reasoning', text: 'hm' } as const;
const SAID = { type: 'text', text: 'Yes.' } as const;

describe('thoughts of a message', () => {
  it('end with a signature, as clients expect, before the next block', () => {
    const writer = new MessageWriter('1', 'm');
    const events = [...writer.take(THOUGHT), ...writer.take(SAID)];
    expect(events.map(({ type, delta }) => [type, (delta as { type?: string })?.type])).toEqual([
      ['content_block_start', undefined],
      ['content_block_delta', 'thinking_delta'],
      ['content_block_delta', 'signature_delta'],
      ['content_block_stop', undefined],
      ['content_block_start', undefined],
      ['content_block_delta', 'text_delta'],
    ]);
  });

  it('are left out, whole and streamed, where the caller wants none', () => {
    const writer = new MessageWriter('1', 'm', false);
    expect(writer.take(THOUGHT)).toEqual([]);
    writer.take(SAID);
    expect(writer.whole().content).toEqual([{ type: 'text', text: 'Yes.' }]);
  });
});
