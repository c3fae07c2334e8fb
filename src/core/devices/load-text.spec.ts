import { describe, expect, it } from '@jest/globals';
import { swapText } from './load-text.js';
import { type Swap } from './swap-policy.port.js';

const swap: Swap = {
  ...{ model: 'whisper', device: 'gpu0', reason: 'realtime' },
  ...{ leaving: ['qwen3-8b'], atMs: 14_500 },
};

describe('which model is next', () => {
  it.each([
    [{}, 'whisper is next on gpu0, because REALTIME requests wait for it; qwen3-8b leaves in 5 s'],
    [
      { reason: 'pin', leaving: ['qwen3-8b', 'kokoro'], atMs: 9000 },
      'whisper is next on gpu0, because it is pinned; qwen3-8b and kokoro leave now',
    ],
    [
      { reason: 'aged', atMs: Infinity },
      'whisper is next on gpu0, because BATCH requests that have aged wait for it; ' +
        'qwen3-8b leaves when all have been sent who waited while it was loaded',
    ],
    [
      { reason: 'waiting', leaving: [] },
      'whisper is next on gpu0, because BATCH requests wait for it',
    ],
  ] satisfies [Partial<Swap>, string][])('is said with its reason: %j', (more, text) => {
    expect(swapText({ ...swap, ...more }, 10_000)).toBe(text);
  });
});
