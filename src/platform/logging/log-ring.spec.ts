import { describe, expect, it } from '@jest/globals';
import { LogFollower } from './log-follower.js';
import { LogRing } from './log-ring.js';

const line = (text: string, level: 'info' | 'warn' = 'info') => ({ at: 1, level, text });

describe('LogRing', () => {
  it('keeps the newest lines, cut to a length, and filters by level', () => {
    const ring = new LogRing(3);
    for (const text of ['a', 'b', 'c']) ring.add(line(text));
    ring.add(line('x'.repeat(5000), 'warn'));
    expect(ring.last(10).map(({ text }) => text.length)).toEqual([1, 1, 2048]);
    expect(ring.last(1)).toHaveLength(1);
    expect(ring.last(10, 'warn')).toHaveLength(1);
  });

  it('reads lines of pino: time, level, message and further fields', () => {
    const ring = new LogRing(3);
    ring.add('{"level":40,"time":1500,"pid":1,"role":"gateway","model":"m","msg":"slow"}\n');
    expect(ring.last(1)).toEqual([{ at: 1.5, level: 'warn', text: 'slow {"model":"m"}' }]);
    ring.add('no JSON\n');
    expect(ring.last(1)).toMatchObject([{ level: 'info', text: 'no JSON' }]);
  });
});

describe('LogFollower', () => {
  const events = (chunk: string) =>
    chunk
      .split('\n\n')
      .filter(Boolean)
      .map(event => event.slice('data: '.length));
  const texts = (chunk: string) =>
    events(chunk).map(event => (JSON.parse(event) as { text: string }).text);

  it('sends what is kept, then what follows, of at least that level', () => {
    const ring = new LogRing(10);
    ring.add(line('early'));
    ring.add(line('early warning', 'warn'));
    const follower = new LogFollower(ring, { lines: 10, level: 'warn' }).setEncoding('utf8');
    follower.read(0);
    ring.add(line('late'));
    ring.add('{"level":50,"msg":"late error"}');
    expect(texts(follower.read() as string)).toEqual(['early warning', 'late error']);
    follower.destroy();
  });

  it('drops lines that a slow reader leaves, says how many, and continues', () => {
    const ring = new LogRing(10);
    const follower = new LogFollower(ring, { lines: 10, level: 'trace' }).setEncoding('utf8');
    follower.read(0);
    for (let count = 0; count < 5000; count++) ring.add(line(`${count} ${'x'.repeat(1000)}`));
    const seen: string[] = [];
    for (
      let chunk = follower.read() as string | null;
      chunk;
      chunk = follower.read() as string | null
    )
      seen.push(...texts(chunk));
    const note = seen.at(-1)!;
    const dropped = Number(/^(\d+) log lines were dropped/.exec(note)?.[1]);
    expect(dropped).toBe(5000 - (seen.length - 1));
    expect(dropped).toBeGreaterThan(3000);
    ring.add(line('again'));
    expect(texts(follower.read() as string)).toEqual(['again']);
    follower.destroy();
  });
});
