import { describe, expect, it } from '@jest/globals';
import { aRealtimeRequest, aRequest } from '../../../test/support/requests.js';
import { RequestPriority } from '../request/request-priority.js';
import { agesAtMs, effectivePriority, isAged } from './aging-policy.js';

const AGING_MS = 30_000;

describe('aging policy', () => {
  it('counts a BATCH request as REALTIME from 30 s on, not before', () => {
    const request = aRequest('r', { enqueuedAtMs: 1_000 });
    expect(effectivePriority(request, 30_999, AGING_MS)).toBe(RequestPriority.BATCH);
    expect(effectivePriority(request, 31_000, AGING_MS)).toBe(RequestPriority.REALTIME);
    expect(agesAtMs(request.enqueuedAtMs, AGING_MS)).toBe(31_000);
  });

  it('never calls a REALTIME request aged', () => {
    const request = aRealtimeRequest('r');
    expect(isAged(request, 100_000, AGING_MS)).toBe(false);
    expect(effectivePriority(request, 100_000, AGING_MS)).toBe(RequestPriority.REALTIME);
  });
});
