import { describe, expect, it } from '@jest/globals';
import { retryAfterMs } from './retry-after.js';

const NOW = Date.parse('2025-01-01T00:00:00Z');

describe('retryAfterMs', () => {
  it.each([
    [{ 'retry-after-ms': '250', 'retry-after': '3' }, 250],
    [{ 'retry-after': '3' }, 3000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': 'Wed, 01 Jan 2025 00:00:20 GMT' }, 20_000],
    [{ 'retry-after': 'Tue, 31 Dec 2024 23:59:00 GMT' }, 0],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('of %j is %s', (headers, ms) => {
    expect(retryAfterMs(headers, NOW)).toBe(ms);
  });
});
