import { describe, expect, it } from '@jest/globals';
import { type Logger } from '@nestjs/common';
import { LastLines } from '@switchyard/engine-api/process/last-lines.js';
import { LogLineSplitter, OutputBound } from '@switchyard/engine-api/process/output-lines.js';
import { ProcessLog } from './process-log.js';

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
