import { describe, expect, it } from '@jest/globals';
import { type LogTarget, ProcessLog } from './process-log.js';

function logged(write: (log: ProcessLog) => void): unknown[][] {
  const written: unknown[][] = [];
  const target = new Proxy({} as LogTarget, {
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
    const line = '{"level":40,"time":1,"pid":7,"hostname":"h","msg":"slow prep","requestId":"r-1","prepMs":900}';
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
    ['stderr', 'Segmentation fault', 'warn'],
    ['stdout', '{not json', 'log'],
  ] as const)('logs text on %s as it is: %s', (stream, line, method) => {
    expect(logged(log => log.line(stream, line))).toEqual([[method, { stream, worker: 'm-0' }, line]]);
  });
});
