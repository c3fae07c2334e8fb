import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LogFollower } from './log-follower.js';
import { LogRing } from './log-ring.js';

const line = (text: string, level: 'info' | 'warn' = 'info') => ({ at: 1, level, text });

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

  describe('while its reader is quiet', () => {
    beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick'] }));
    afterEach(() => void jest.useRealTimers());

    it('sends a comment every 15 s, once it was asked, until it is closed', () => {
      const ring = new LogRing(10);
      const follower = new LogFollower(ring, { lines: 10, level: 'trace' }).setEncoding('utf8');
      jest.advanceTimersByTime(20_000);
      expect(follower.readableLength).toBe(0);
      follower.read(0);
      jest.advanceTimersByTime(9999);
      expect(follower.readableLength).toBe(0);
      jest.advanceTimersByTime(1);
      expect(follower.read()).toBe(': keep-alive\n\n');
      follower.destroy();
      expect(jest.getTimerCount()).toBe(0);
      ring.add(line('after its end'));
      expect(follower.readableLength).toBe(0);
    });

    it('keeps 1000 lines for it, and counts the others', () => {
      const read = (count: number) => {
        const ring = new LogRing(1);
        const follower = new LogFollower(ring, { lines: 0, level: 'trace' }).setEncoding('utf8');
        for (let at = 0; at < count; at++) ring.add(line(`line ${at}`));
        const seen: string[] = [];
        for (let chunk: unknown; (chunk = follower.read()) !== null;)
          seen.push(...texts(chunk as string));
        follower.destroy();
        return seen;
      };
      expect(read(1000)).toHaveLength(1000);
      const dropped = '2 log lines were dropped: this stream is not read fast enough.';
      expect(read(1002).slice(999)).toEqual(['line 999', dropped]);
    });
  });
});
