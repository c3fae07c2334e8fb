import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { inferenceTimeoutMs } from '../../src/gateway/scheduler/request-timeout.js';
import { simulate } from '../bench/support/simulation/simulation-report.js';
import { type TraceRequest } from '../bench/support/simulation/trace.js';
import { VirtualGateway } from '../bench/support/simulation/virtual-gateway.js';

/** `TIME_LIMIT_LOADS=10000` for the whole property. */
const LOADS = Number(process.env.TIME_LIMIT_LOADS ?? 300);
const POLICY = { timeoutMinMs: 30_000, timeoutFactor: 2 };
/** Of an engine call, besides its members. */
const GROUP_MS = 100;

/** It takes `share` of its limit alone: nearly all of it at most. */
const request = fc
  .record({
    atMs: fc.integer({ min: 0, max: 60_000 }),
    audioS: fc.oneof(
      fc.double({ min: 0, max: 15, noNaN: true }),
      fc.integer({ min: 15, max: 600 }),
    ),
    share: fc.double({ min: 0.001, max: 0.99, noNaN: true }),
    priority: fc.constantFrom('realtime' as const, 'batch' as const),
    tenant: fc.constantFrom('a', 'b', 'c'),
  })
  .map(({ audioS, share, ...came }): TraceRequest => {
    const limitMs = inferenceTimeoutMs(audioS, POLICY);
    return { ...came, model: 'm', limitMs, costMs: share * limitMs - GROUP_MS / 2 };
  });

const load = fc.record({
  maxBatch: fc.integer({ min: 1, max: 16 }),
  workers: fc.integer({ min: 1, max: 3 }),
  trace: fc.array(request, { minLength: 1, maxLength: 60, size: 'max' }),
});

describe('time limits, virtual time', () => {
  it(`let no load fail what succeeds alone, unless it is told 429 or 503 (${LOADS} loads)`, () => {
    let completed = 0;
    fc.assert(
      fc.property(load, ({ maxBatch, workers, trace }) => {
        const cost = { groupMs: GROUP_MS / 2, itemMs: 0, prepMs: 20, hopMs: 1, maxBatch };
        const gateway = new VirtualGateway({ workers: new Map([['m', workers]]), cost });
        gateway.replay(trace.toSorted((a, b) => a.atMs - b.atMs));
        const { unsettled } = simulate(gateway);
        completed += gateway.book.settledBy.batch.completed;
        expect([gateway.timeouts, unsettled]).toEqual([0, 0]);
      }),
      { numRuns: LOADS, seed: 44 },
    );
    expect(completed).toBeGreaterThan(LOADS);
  });

  it('end what the device computes for longer than all members of its call may take', () => {
    const gateway = new VirtualGateway({
      workers: new Map([['m', 1]]),
      cost: { groupMs: 0, itemMs: 0, prepMs: 0, hopMs: 0, maxBatch: 8 },
    });
    const hangs = { atMs: 0, model: 'm', tenant: 'a', priority: 'batch', limitMs: 30_000 } as const;
    gateway.replay(Array.from({ length: 8 }, () => ({ ...hangs, costMs: 31_000 })));
    simulate(gateway);
    expect(gateway.timeouts).toBe(8);
  });
});
