import { spawnSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { finishStart, V8_FLAGS } from './v8-flags.js';

it('are flags that this V8 knows', () => {
  const { status, stderr } = spawnSync(process.execPath, [...V8_FLAGS, '-e', ''], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

const heapMib = () => process.memoryUsage().heapTotal / 2 ** 20;

it('makes V8 give back what is garbage', () => {
  const garbage = Array.from({ length: 1_000_000 }, (_, n) => ({ n, also: [n] }));
  const beforeMib = heapMib();
  garbage.length = 0;
  finishStart();
  expect(heapMib()).toBeLessThan(beforeMib - 32);
});
