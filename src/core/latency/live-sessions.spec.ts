import { expect, it } from '@jest/globals';
import { keepsPace } from './live-sessions.js';

it.each([
  ['a lone one, however slow the recogniser is', [], 5000, 1, true],
  ['two that take a fifth of the device each', [1], 200, 1, true],
  ['the fifth of them', [1, 1, 1, 1], 200, 1, false],
  ['the fifth where they speak half of the time', [0.5, 0.5, 0.5, 0.5], 200, 1, true],
  ['the fifth on two devices', [1, 1, 1, 1], 200, 2, true],
])('%s', (_title, speaking, msPerS, devices, taken) => {
  const sessions = speaking.map(share => ({ speaking: share, waiting: 1 }));
  expect(keepsPace(sessions, msPerS, devices)).toBe(taken);
});

it('none while an utterance has ended before the one before it had its text', () => {
  const sessions = [{ speaking: 0.1, waiting: 2 }];
  expect(keepsPace(sessions, 1, 8)).toBe(false);
});
