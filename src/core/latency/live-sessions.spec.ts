import { expect, it } from '@jest/globals';
import { keepsPace } from './live-sessions.js';

it.each([
  ['a lone one, however slow the recogniser is', [], 5000, 1, true],
  ['two that take a fifth of the device each', [1], 200, 1, true],
  ['the fifth of them', [1, 1, 1, 1], 200, 1, false],
  ['the fifth where they speak half of the time', [0.5, 0.5, 0.5, 0.5], 200, 1, true],
  ['the fifth on two devices', [1, 1, 1, 1], 200, 2, true],
])('%s', (_title, speaking, msPerS, devices, taken) => {
  expect(keepsPace(speaking, msPerS, devices)).toBe(taken);
});
