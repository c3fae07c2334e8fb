import { describe, expect, it } from '@jest/globals';
import { RequestPriority } from '../request/request-priority.js';
import { Admission, type QueueLoad } from './admission.js';

const bounds = {
  maxRequests: 10,
  maxRequestsPerModel: 5,
  maxBytes: 1_000,
  maxBytesPerModel: 500,
  realtimeReserve: 0,
};

interface Held {
  requests?: number;
  bytes?: number;
  /** Of the requests. */
  realtime?: number;
}

/** A queue that holds so much of `m`, and so much in all. */
function load(own: Held, total = own): QueueLoad {
  const split = ({ requests = 0, bytes = 0, realtime = 0 }: Held) => ({
    realtime,
    batch: requests - realtime,
    bytes,
  });
  return {
    depth: total.requests ?? 0,
    bytes: total.bytes ?? 0,
    depthByPriority: () => split(total),
    depthOf: () => split(own),
  };
}

const { REALTIME, BATCH } = RequestPriority;
const one = (bytes: number, priority: RequestPriority = BATCH) => ({ model: 'm', bytes, priority });
const lowest = () => 0;
const highest = () => 1 - Number.EPSILON;

function drained(admission: Admission, model: string, perS: number) {
  for (let second = 0; second < 30; second += 1) admission.drained(model, second * 1000, perS);
}

describe('Admission bounds', () => {
  const admission = new Admission(bounds, lowest);

  it('admits up to the bound', () => {
    expect(admission.check(load({ requests: 4, bytes: 400 }), one(100))).toBeUndefined();
  });

  it.each<[string, QueueLoad, number, object]>([
    [
      'the 6th request of a model whose bound is 5',
      load({ requests: 5 }),
      1,
      { scope: 'model', bound: 'requests', limit: 5, backlog: 5 },
    ],
    [
      'the byte that is one too many for a model',
      load({ requests: 1, bytes: 400 }),
      101,
      { scope: 'model', bound: 'bytes', limit: 500, backlog: 1 },
    ],
    [
      'the 11th request in all, of whatever model',
      load({}, { requests: 10 }),
      1,
      { scope: 'total', bound: 'requests', limit: 10, backlog: 10 },
    ],
    [
      'the byte that is one too many in all',
      load({}, { requests: 3, bytes: 900 }),
      101,
      { scope: 'total', bound: 'bytes', limit: 1_000, backlog: 3 },
    ],
  ])('refuses %s', (_, queue, bytes, refusal) => {
    expect(admission.check(queue, one(bytes))).toEqual({ ...refusal, reserved: 0 });
  });
});

describe('Admission of several tenants', () => {
  const admission = new Admission({ ...bounds, maxRequestsPerModel: 8 }, lowest);
  const held = (requests: number, of: { requests: number; tenants: number }): QueueLoad => ({
    ...load({ requests }, {}),
    loadOf: () => ({ ...of, bytes: 0 }),
  });
  const asked = { ...one(1), tenant: 'b' };

  it('admits a tenant without requests to a queue that another one has filled', () => {
    expect(admission.check(held(8, { requests: 0, tenants: 1 }), asked)).toBeUndefined();
  });

  it('refuses the one that filled it, also while the reserve is in use', () => {
    for (const requests of [8, 9])
      expect(admission.check(held(requests, { requests: 8, tenants: 2 }), asked)).toMatchObject({
        limit: 8,
      });
  });

  it('admits up to an equal part of the bound, and no more than a quarter beyond it', () => {
    expect(admission.check(held(9, { requests: 3, tenants: 2 }), asked)).toBeUndefined();
    expect(admission.check(held(9, { requests: 4, tenants: 2 }), asked)).toBeDefined();
    expect(admission.check(held(10, { requests: 0, tenants: 1 }), asked)).toBeDefined();
  });

  it('counts another tenant whose requests have another priority', () => {
    expect(admission.check(held(8, { requests: 1, tenants: 1 }), asked)).toBeUndefined();
  });
});

describe('Admission with a fifth reserved for REALTIME', () => {
  const admission = new Admission({ ...bounds, realtimeReserve: 0.2 }, lowest);

  it('refuses BATCH at 4 of 5 requests, and REALTIME at 5', () => {
    const check = (requests: number, priority: RequestPriority) =>
      admission.check(load({ requests }), one(1, priority));
    expect(check(4, BATCH)).toMatchObject({ limit: 4, reserved: 1, backlog: 4 });
    expect(check(4, REALTIME)).toBeUndefined();
    expect(check(5, REALTIME)).toMatchObject({ limit: 5, reserved: 0 });
  });

  it('does so for the bounds of bytes and of all models as well', () => {
    const large = load({ requests: 1, bytes: 350 });
    expect(admission.check(large, one(51))).toMatchObject({ bound: 'bytes', limit: 400 });
    expect(admission.check(large, one(51, REALTIME))).toBeUndefined();
    const many = load({}, { requests: 8 });
    expect(admission.check(many, one(1))).toMatchObject({ scope: 'total', limit: 8 });
    expect(admission.check(many, one(1, REALTIME))).toBeUndefined();
  });

  it('takes a BATCH upload that is larger than its part of the bound while nothing else waits', () => {
    expect(admission.check(load({}), one(450))).toBeUndefined();
  });

  it('leaves BATCH a place of a bound of 1', () => {
    const tight = new Admission(
      { ...bounds, maxRequestsPerModel: 1, realtimeReserve: 0.9 },
      lowest,
    );
    expect(tight.check(load({}), one(1))).toBeUndefined();
  });
});

describe('Admission Retry-After', () => {
  it('is backlog / drain rate: 100 waiting at 10 per second take 10 s', () => {
    const admission = new Admission(bounds, lowest);
    drained(admission, 'm', 10);
    const retryAfterMs = admission.retryAfterMs('m', 100, 29_500);
    expect(retryAfterMs).toBeGreaterThan(9_000);
    expect(retryAfterMs).toBeLessThan(11_000);
  });

  it('is 5 s while nothing has left yet', () => {
    expect(new Admission(bounds, lowest).retryAfterMs('m', 5, 0)).toBe(5_000);
  });

  it('is at least 1 s', () => {
    const admission = new Admission(bounds, lowest);
    drained(admission, 'm', 1_000);
    expect(admission.retryAfterMs('m', 1, 29_000)).toBe(1_000);
  });

  it('is at most 60 s, also when nothing has left for an hour', () => {
    for (const random of [lowest, highest]) {
      const admission = new Admission(bounds, random);
      drained(admission, 'm', 10);
      const hints = [
        admission.retryAfterMs('m', 1_000_000, 29_000),
        admission.retryAfterMs('m', 1, 3_600_000),
      ];
      expect(Math.max(...hints)).toBeLessThanOrEqual(60_000);
      expect(Math.min(...hints)).toBeGreaterThanOrEqual(30_000);
    }
  });

  it('spreads the hints of one moment: over 4 s, or over as long again as it takes to drain', () => {
    const admission = new Admission(bounds, highest);
    expect(admission.retryAfterMs('m', 5, 0)).toBe(9_999);
    drained(admission, 'm', 1_000);
    expect(admission.retryAfterMs('m', 1, 29_000)).toBe(4_999);
    let place = 0;
    const spread = new Admission(bounds, () => (place++ % 20) / 20);
    drained(spread, 'm', 1_000);
    const seconds = Array.from({ length: 20 }, () =>
      Math.ceil(spread.retryAfterMs('m', 1, 29_000) / 1000),
    );
    const most = Math.max(
      ...[...new Set(seconds)].map(second => seconds.filter(other => other === second).length),
    );
    expect(most).toBeLessThanOrEqual(5);
  });

  it('counts for REALTIME what waits before it, and for BATCH all that waits', () => {
    const admission = new Admission(bounds, lowest);
    drained(admission, 'm', 1);
    const full = load({ requests: 5, realtime: 2 });
    const hint = (priority: RequestPriority) => {
      const refusal = admission.check(full, one(1, priority));
      return Math.round((admission.queueFull(refusal!, 'm', 29_500).retryAfterMs ?? 0) / 1000);
    };
    expect([hint(REALTIME), hint(BATCH)]).toEqual([2, 5]);
  });

  it('is when the request would start, where that is known and the bound is that of its model', () => {
    const admission = new Admission(bounds, lowest);
    drained(admission, 'm', 1);
    const hint = (queue: QueueLoad) => {
      const refusal = admission.check(queue, one(1));
      return admission.queueFull(refusal!, 'm', 29_500, 12_345.6).retryAfterMs ?? 0;
    };
    expect(hint(load({ requests: 5 }))).toBe(12_346);
    expect(hint(load({}, { requests: 10 }))).toBeLessThan(12_346);
  });

  it('looks at one model, or at all together', () => {
    const admission = new Admission(bounds, lowest);
    drained(admission, 'slow', 1);
    drained(admission, 'fast', 99);
    expect(admission.retryAfterMs('slow', 100, 29_500)).toBe(30_000);
    expect(admission.retryAfterMs(undefined, 200, 29_500)).toBeLessThan(2_200);
  });

  it('is a whole number of milliseconds', () => {
    const admission = new Admission(bounds, lowest);
    drained(admission, 'm', 7);
    expect(Number.isInteger(admission.retryAfterMs('m', 33, 29_123.456))).toBe(true);
  });
});
