import { describe, expect, it } from '@jest/globals';
import { windowSeconds } from './completion-window.js';

describe('windowSeconds', () => {
  it.each([
    ['24h', 86_400],
    ['30m', 1800],
    ['60s', 60],
    ['7d', 604_800],
  ])('reads %s as %d seconds', (text, seconds) => expect(windowSeconds(text)).toBe(seconds));

  it.each(['', '24', 'h', '59s', '8d', '169h', '-1h', '1.5h', '24 h', '24H', '99999999h'])(
    'refuses %j',
    text => expect(windowSeconds(text)).toBeUndefined(),
  );
});
