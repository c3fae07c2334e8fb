import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { peakBytes } from './process-memory.js';

const own = () =>
  1024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);

it('is the most that a process has had, with its children; 0 of one that is gone', async () => {
  // First: the process grows by what reading it takes.
  const alone = own();
  expect(peakBytes(process.pid)).toBeGreaterThanOrEqual(alone);
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume(); console.log(1)']);
  await once(child.stdout, 'data');
  expect(peakBytes(process.pid)).toBeGreaterThan(alone + 10_000_000);
  child.stdin.end();
  await once(child, 'close');
  expect([peakBytes(child.pid), peakBytes(undefined)]).toEqual([0, 0]);
});
