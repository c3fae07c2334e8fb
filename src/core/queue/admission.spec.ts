import { describe, expect, it } from '@jest/globals';
import { Admission, type QueueLoad } from './admission.js';

const bounds = { maxRequests: 10, maxRequestsPerModel: 5, maxBytes: 1_000, maxBytesPerModel: 500 };

/** A queue that holds so much of `m`, and so much in all. */
function load(own: { requests: number; bytes: number }, total = own): QueueLoad {
  return {
    depth: total.requests,
    bytes: total.bytes,
    depthOf: () => ({ realtime: 0, batch: own.requests, bytes: own.bytes }),
  };
}

function drained(admission: Admission, model: string, perS: number): void {
  for (let second = 0; second < 30; second += 1) admission.drained(model, second * 1000, perS);
}

describe('Admission bounds', () => {
  const admission = new Admission(bounds);

  it('admits up to the bound', () => {
    expect(admission.check(load({ requests: 4, bytes: 400 }), 'm', 100)).toBeUndefined();
  });

  it('refuses the 6th request of a model whose bound is 5', () => {
    const refusal = { scope: 'model', bound: 'requests', limit: 5, backlog: 5 };
    expect(admission.check(load({ requests: 5, bytes: 0 }), 'm', 1)).toEqual(refusal);
  });

  it('refuses the byte that is one too many for a model', () => {
    const refusal = { scope: 'model', bound: 'bytes', limit: 500, backlog: 1 };
    expect(admission.check(load({ requests: 1, bytes: 400 }), 'm', 101)).toEqual(refusal);
  });

  it('refuses the 11th request in all, of whatever model', () => {
    const refusal = { scope: 'total', bound: 'requests', limit: 10, backlog: 10 };
    expect(admission.check(load({ requests: 0, bytes: 0 }, { requests: 10, bytes: 0 }), 'm', 1)).toEqual(refusal);
  });

  it('refuses the byte that is one too many in all', () => {
    const refusal = { scope: 'total', bound: 'bytes', limit: 1_000, backlog: 3 };
    expect(admission.check(load({ requests: 0, bytes: 0 }, { requests: 3, bytes: 900 }), 'm', 101)).toEqual(refusal);
  });
});

describe('Admission Retry-After', () => {
  it('is backlog / drain rate: 100 waiting at 10 per second take 10 s', () => {
    const admission = new Admission(bounds);
    drained(admission, 'm', 10);
    const retryAfterMs = admission.retryAfterMs('m', 100, 29_500);
    expect(retryAfterMs).toBeGreaterThan(9_000);
    expect(retryAfterMs).toBeLessThan(11_000);
  });

  it('is 5 s while nothing has left yet', () => {
    expect(new Admission(bounds).retryAfterMs('m', 5, 0)).toBe(5_000);
  });

  it('is at least 1 s', () => {
    const admission = new Admission(bounds);
    drained(admission, 'm', 1_000);
    expect(admission.retryAfterMs('m', 1, 29_000)).toBe(1_000);
  });

  it('is at most 60 s, also when nothing has left for an hour', () => {
    const admission = new Admission(bounds);
    drained(admission, 'm', 10);
    expect(admission.retryAfterMs('m', 1_000_000, 29_000)).toBe(60_000);
    expect(admission.retryAfterMs('m', 1, 3_600_000)).toBe(60_000);
  });

  it('looks at one model, or at all together', () => {
    const admission = new Admission(bounds);
    drained(admission, 'slow', 1);
    drained(admission, 'fast', 99);
    expect(admission.retryAfterMs('slow', 100, 29_500)).toBe(60_000);
    expect(admission.retryAfterMs(undefined, 200, 29_500)).toBeLessThan(2_200);
  });

  it('is a whole number of milliseconds', () => {
    const admission = new Admission(bounds);
    drained(admission, 'm', 7);
    expect(Number.isInteger(admission.retryAfterMs('m', 33, 29_123.456))).toBe(true);
  });
});
