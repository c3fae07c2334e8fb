import { describe, expect, it } from '@jest/globals';
import { type Logger } from '@nestjs/common';
import {
  LastLines,
  LogLineSplitter,
  OutputBound,
} from '@switchyard/engine-api/process/output-lines.js';
import { LogFollower, LogRing, ProcessLog } from './log-ring.js';

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

function logged(write: (log: ProcessLog) => void): unknown[][] {
  const written: unknown[][] = [];
  const target = new Proxy({} as Logger, {
    get:
      (_, method) =>
      (...args: unknown[]) =>
        written.push([method, ...args]),
  });
  write(new ProcessLog(target, 'm-0'));
  return written;
}

describe('ProcessLog', () => {
  it('gives pino lines again at their level, with their fields and the worker id', () => {
    const line =
      '{"level":40,"time":1,"pid":7,"hostname":"h","msg":"slow prep","requestId":"r-1","prepMs":900}';
    expect(logged(log => log.line('stdout', line))).toEqual([
      ['warn', { requestId: 'r-1', prepMs: 900, worker: 'm-0' }, 'slow prep'],
    ]);
  });

  it('a field of the line cannot pass itself off as another worker', () => {
    expect(logged(log => log.line('stdout', '{"level":30,"msg":"x","worker":"m-1"}'))).toEqual([
      ['log', { worker: 'm-0' }, 'x'],
    ]);
  });

  it.each([
    ['stderr', 'Segmentation fault', 'error'],
    ['stderr', 'RuntimeError: CUDA is out of memory', 'error'],
    ['stderr', '2026-11-22 10:00:00 WARNING worker: slow', 'warn'],
    ['stderr', '2026-11-22 10:00:00 INFO worker: 0 errors so far', 'log'],
    ['stdout', '{not json', 'log'],
  ] as const)('logs text on %s at the level that it names: %s', (stream, line, method) => {
    expect(logged(log => log.line(stream, line))).toEqual([
      [method, { stream, worker: 'm-0' }, line],
    ]);
  });
});

function split(chunks: (string | Buffer)[]) {
  const lines: string[] = [];
  const splitter = new LogLineSplitter(line => lines.push(line));
  for (const chunk of chunks) splitter.push(Buffer.from(chunk));
  splitter.end();
  return lines;
}

describe('LogLineSplitter', () => {
  it('joins lines across chunks, drops empty ones, and gives the last without its newline', () => {
    expect(split(['on', 'e\ntwo\r\n\n', 'th', 'ree'])).toEqual(['one', 'two', 'three']);
  });

  it('keeps a character that is cut between two chunks whole', () => {
    const bytes = Buffer.from('größer\n');
    expect(split([bytes.subarray(0, 3), bytes.subarray(3)])).toEqual(['größer']);
  });

  it('cuts a line that never ends at 65,536 characters', () => {
    expect(
      split(Array.from({ length: 5 }, () => 'x'.repeat(30_000))).map(line => line.length),
    ).toEqual([65_536, 65_536, 18_928]);
  });
});

describe('OutputBound', () => {
  it('admits 256 KiB at once and 32 KiB a second, and reports a flood when it begins and when it is over', () => {
    const told: string[] = [];
    let nowMs = 0;
    const bound = new OutputBound(
      line => told.push(line),
      () => nowMs,
    );
    const admitted = () =>
      Array.from({ length: 10 }, () => bound.admits(65_536)).filter(Boolean).length;
    expect([admitted(), bound.problem]).toEqual([
      4,
      expect.stringMatching(/: 393216 bytes were dropped$/),
    ]);
    nowMs = 2000;
    expect([admitted(), told]).toEqual([
      1,
      ['warning: it writes more than 32768 bytes of log a second: the rest is dropped'],
    ]);
    nowMs = 12_000;
    expect([bound.problem, told[1]]).toEqual([
      undefined,
      'warning: 983040 bytes of its output were dropped',
    ]);
    expect([bound.admits(1), told.length]).toEqual([true, 2]);
  });
});

describe('LastLines', () => {
  it('keeps the newest 3', () => {
    const last = new LastLines(3);
    for (const line of ['a', 'b', 'c', 'd']) last.add(line);
    expect(last.lines).toEqual(['b', 'c', 'd']);
  });
});
