import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { StreamTail } from './stream-tail.js';

describe('StreamTail', () => {
  it('has what was appended and not dropped, by its position in the stream', () => {
    const step = fc.record({
      append: fc.nat(20_000),
      drop: fc.nat(30_000),
      first: fc.nat(60_000),
      length: fc.nat(60_000),
    });
    fc.assert(
      fc.property(fc.array(step), steps => {
        const tail = new StreamTail(length => new Int16Array(length));
        let [all, from] = [new Int16Array(0), 0];
        for (const { append, drop, first, length } of steps) {
          const piece = Int16Array.from({ length: append }, (_, at) => all.length + at);
          tail.append(piece);
          all = Int16Array.from([...all, ...piece]);
          tail.dropBefore(drop);
          from = Math.max(from, Math.min(drop, all.length));
          expect(tail.end).toBe(all.length);
          const [start, end] = [Math.max(first, from), first + length];
          expect(tail.view(first, end)).toEqual(all.slice(start, Math.max(start, end)));
        }
      }),
      { numRuns: 30 },
    );
  });

  it('takes no more memory for a stream without an end than twice what is kept', () => {
    const sizes: number[] = [];
    const tail = new StreamTail(length => (sizes.push(length), Buffer.alloc(length)));
    for (let at = 0; at < 10_000; at += 1) {
      tail.append(Buffer.alloc(1000));
      tail.dropBefore(tail.end - 10_000);
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(44_000);
    expect(sizes.length).toBeLessThanOrEqual(4);
  });
});
