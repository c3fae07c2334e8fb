import { describe, expect, it } from '@jest/globals';
import { aRealtimeRequest, aRequest } from '../../../test/support/requests.js';
import { agesAtMs, isAged } from './request-age.js';

const AGING_MS = 30_000;

describe('aging policy', () => {
  it('calls a BATCH request aged from 30 s on, not before', () => {
    const request = aRequest('r', { enqueuedAtMs: 1_000 });
    expect(isAged(request, 30_999, AGING_MS)).toBe(false);
    expect(isAged(request, 31_000, AGING_MS)).toBe(true);
    expect(agesAtMs(request.enqueuedAtMs, AGING_MS)).toBe(31_000);
  });

  it('never calls a REALTIME request aged', () => {
    const request = aRealtimeRequest('r');
    expect(isAged(request, 100_000, AGING_MS)).toBe(false);
  });
});
