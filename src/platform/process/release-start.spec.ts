import { expect, it } from '@jest/globals';
import { releaseStart } from './release-start.js';

const heapMib = (): number => process.memoryUsage().heapTotal / 2 ** 20;

it('makes V8 give back what is garbage', () => {
  const garbage = Array.from({ length: 1_000_000 }, (_, n) => ({ n, also: [n] }));
  const beforeMib = heapMib();
  garbage.length = 0;
  releaseStart();
  expect(heapMib()).toBeLessThan(beforeMib - 32);
});
