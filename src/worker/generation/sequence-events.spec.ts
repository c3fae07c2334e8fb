import { describe, expect, it } from '@jest/globals';
import { type LiveSequence, sequenceEvents } from './sequence-events.js';

/** Records what it receives, then calls `on`. */
function listener(
  name: string,
  received: string[],
  on: () => void = () => undefined,
): LiveSequence {
  const hear = (what: string) => {
    received.push(`${name} ${what}`);
    on();
  };
  return { emitted: () => hear('token'), ended: () => hear('end') } as unknown as LiveSequence;
}
const END = { type: 'finished', reason: 'stop' } as const;

describe('SequenceEvents', () => {
  it('emits at once, unless it is held: then in order, on flush', () => {
    const received: string[] = [];
    const events = sequenceEvents();
    const [a, b] = [listener('a', received), listener('b', received)];
    events.emit({ sequence: a });
    events.hold(() => {
      events.emit({ sequence: b });
      events.emit({ sequence: a, end: END });
    });
    expect([received, events.waiting]).toEqual([['a token'], 2]);
    events.flush();
    expect(received).toEqual(['a token', 'b token', 'a end']);
  });

  it('emits events that arise during emission after those before them', () => {
    const received: string[] = [];
    const events = sequenceEvents();
    const b = listener('b', received);
    const a = listener('a', received, () => events.emit({ sequence: b, end: END }));
    events.hold(() => [a, b].forEach(sequence => events.emit({ sequence })));
    events.flush();
    expect(received).toEqual(['a token', 'b token', 'b end']);
  });

  it('goes on with the next one after one that could not be told', () => {
    const received: string[] = [];
    const events = sequenceEvents();
    const broken = listener('a', received, () => {
      throw new Error('a listener');
    });
    events.hold(() =>
      [broken, listener('b', received)].forEach(sequence => events.emit({ sequence })),
    );
    expect(() => events.flush()).toThrow('a listener');
    events.flush();
    expect(received).toEqual(['a token', 'b token']);
  });
});
