import { describe, expect, it } from '@jest/globals';
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

  it('keeps as many lines as it is made for, the last ones first when few are asked for', () => {
    const ring = new LogRing(2);
    ring.add(line('a'));
    ring.add(line('b'));
    expect(ring.last(2).map(({ text }) => text)).toEqual(['a', 'b']);
    expect(ring.last(1).map(({ text }) => text)).toEqual(['b']);
    expect(ring.last(0)).toEqual([]);
    ring.add(line('c'));
    expect(ring.last(9).map(({ text }) => text)).toEqual(['b', 'c']);
  });

  it('tells of new lines, parsed, while somebody listens', () => {
    const ring = new LogRing(9);
    const heard: string[] = [];
    ring.add('{"level":30,"msg":"before"}');
    const listening = ring.added$.subscribe(({ text }) => void heard.push(text));
    ring.add('{"level":30,"msg":"text"}');
    ring.add(line('record'));
    listening.unsubscribe();
    ring.add('{"level":30,"msg":"after"}');
    expect(heard).toEqual(['text', 'record']);
    expect(ring.last(9).map(({ text }) => text)).toEqual(['before', 'text', 'record', 'after']);
  });

  it.each([
    ['{"level":10,"msg":"m"}', 'trace', 'm'],
    ['{"level":60,"msg":"m"}', 'fatal', 'm'],
    ['{"level":35,"msg":"m"}', 'info', 'm'],
    ['{"msg":5,"hostname":"h"}', 'info', ''],
    ['{"msg":"  m","a":[1]}', 'info', 'm {"a":[1]}'],
    ['{"msg"', 'info', '{"msg"'],
    ['  text  \n', 'info', '  text'],
    [`x${'y'.repeat(5000)}`, 'info', `x${'y'.repeat(2047)}`],
    [`{"msg":"${'y'.repeat(5000)}"}`, 'info', 'y'.repeat(2048)],
  ])('reads %s as %s: %s', (text, level, shown) => {
    const ring = new LogRing(1);
    const before = Date.now() / 1000;
    ring.add(text);
    const [read] = ring.last(1);
    expect(read).toMatchObject({ level, text: shown });
    expect(read!.at).toBeGreaterThanOrEqual(before);
    expect(read!.at).toBeLessThanOrEqual(Date.now() / 1000);
  });

  it('reads lines of pino: time, level, message and further fields', () => {
    const ring = new LogRing(3);
    ring.add('{"level":40,"time":1500,"pid":1,"role":"gateway","model":"m","msg":"slow"}\n');
    expect(ring.last(1)).toEqual([{ at: 1.5, level: 'warn', text: 'slow {"model":"m"}' }]);
    ring.add('no JSON\n');
    expect(ring.last(1)).toMatchObject([{ level: 'info', text: 'no JSON' }]);
  });
});
