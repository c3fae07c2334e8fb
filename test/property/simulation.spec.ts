import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { FairJobs, fairness } from '../bench/support/simulation/fair-jobs.js';
import { changingLoad, forecastAccuracy } from '../bench/support/simulation/forecast-accuracy.js';
import { type DeviceCost } from '../bench/support/simulation/simulated-worker.js';
import { simulate } from '../bench/support/simulation/simulation-report.js';
import { tenantShares } from '../bench/support/simulation/tenant-shares.js';
import { generateTrace, zipfShares } from '../bench/support/simulation/trace-mix.js';
import { readTrace, type TraceRequest } from '../bench/support/simulation/trace.js';
import { VirtualGateway } from '../bench/support/simulation/virtual-gateway.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const COST: DeviceCost = { groupMs: 20, itemMs: 0, prepMs: 0, hopMs: 0, maxBatch: 8 };
const ONE = new Map([['m', 1]]);

const came = (
  atMs: number,
  priority: 'realtime' | 'batch' = 'batch',
  cancelAfterMs?: number,
): TraceRequest => ({
  atMs,
  model: 'm',
  tenant: 't',
  priority,
  ...(cancelAfterMs !== undefined && { cancelAfterMs }),
});

function replayed(trace: readonly TraceRequest[], rules: { agingMs?: number } = {}) {
  const harness = new VirtualGateway({ workers: ONE, cost: COST, rules });
  harness.replay(trace);
  return { harness, report: simulate(harness) };
}

describe('the simulation, virtual time', () => {
  it('answers a lone BATCH request after 5 ms of quiet and 20 ms of device', () => {
    expect(replayed([came(100)]).report.answerMs.batch.max).toBe(25);
  });

  it('answers a lone REALTIME request after 20 ms of device', () => {
    expect(replayed([came(100, 'realtime')]).report.answerMs.realtime.max).toBe(20);
  });

  it('computes 8 that came together in one engine call', () => {
    const { report, harness } = replayed(Array.from({ length: 8 }, () => came(0)));
    expect([report.groupSize, harness.book.lastAtMs]).toEqual([8, 20]);
  });

  it('lets REALTIME wait for one engine call at most, behind 1,000 BATCH', () => {
    const trace = [...Array.from({ length: 1000 }, () => came(0)), came(1000, 'realtime')];
    expect(replayed(trace).report.answerMs.realtime.max).toBeLessThanOrEqual(40);
  });

  it('promotes BATCH that waited too long, and nothing without aging', () => {
    const trace = Array.from({ length: 1000 }, () => came(0));
    expect(replayed(trace, { agingMs: 500 }).report.promotions).toBeGreaterThan(500);
    expect(replayed(trace, { agingMs: Infinity }).report.promotions).toBe(0);
  });

  it('forgets whoever hung up in the queue, and returns every slot', () => {
    const trace = Array.from({ length: 100 }, (_, index) =>
      came(0, 'batch', index < 50 ? undefined : 1),
    );
    const { report } = replayed(trace);
    expect(report).toMatchObject({ cancelled: 50, unsettled: 0, slotsLeaked: 0 });
  });

  it('settles everybody exactly once and returns every slot, whatever comes', () => {
    const any = fc.record({
      seed: fc.nat(),
      realtimeShare: fc.double({ min: 0, max: 1, noNaN: true }),
      models: fc.integer({ min: 1, max: 4 }),
      ratePerS: fc.integer({ min: 10, max: 3000 }),
      cancelShare: fc.constantFrom(0, 0.3),
    });
    fc.assert(
      fc.property(any, ({ models, ...mix }) => {
        const shares = zipfShares(models);
        const trace = generateTrace({
          ...mix,
          requests: 300,
          models: shares,
          tenants: ['a', 'b'],
          cancelWithinMs: 100,
        });
        const harness = new VirtualGateway({
          workers: new Map([...shares.keys()].map(name => [name, 1])),
          cost: COST,
        });
        harness.replay(trace);
        const { unsettled, slotsLeaked } = simulate(harness);
        const { accepted, refused, settledCount } = harness.book;
        expect([accepted + refused, settledCount, unsettled, slotsLeaked]).toEqual([
          300,
          accepted,
          0,
          0,
        ]);
      }),
      { numRuns: 30 },
    );
  });

  it('repeats: the same seed gives the same waits', () => {
    const trace = () =>
      generateTrace({
        requests: 500,
        ratePerS: 300,
        models: ONE,
        tenants: ['a'],
        realtimeShare: 0.3,
      });
    expect(replayed(trace()).report.waitMs).toEqual(replayed(trace()).report.waitMs);
  });

  it('gives three tenants the same pace, whether they have 20 jobs or 1', () => {
    const harness = new VirtualGateway({ workers: ONE, cost: COST });
    const jobs = [
      ...Array.from({ length: 20 }, (_, index) => ['big', `b${index}`] as const),
      ['one', 'o'],
      ['two', 'w'],
    ] as const;
    const lanes = jobs.map(([tenant, job]) => ({ tenant, job, model: 'm', lines: 200 }));
    const share = new FairJobs(harness, lanes, { all: 16, perModel: 16 });
    share.pump();
    for (let atMs = 0; share.leftOf('one') > 0; atMs += 10) harness.run(atMs);
    expect(fairness([...harness.book.tenants.values()])).toBeGreaterThan(0.99);
  });
});

describe('forecasts, virtual time', () => {
  const MIX = {
    tenants: ['a', 'b', 'c'],
    realtimeShare: 0.33,
    bursts: { factor: 4, calmMs: 9000, burstMs: 1000 },
  };
  const GPU: DeviceCost = {
    groupMs: 1000,
    itemMs: 250,
    prepMs: 40,
    hopMs: 0.7,
    maxBatch: 8,
  };

  it('nine in ten waits end before their p90 while the load changes, with a median error of 25 % at most', () => {
    const { coverage, medianError, waits } = forecastAccuracy({
      workers: 4,
      cost: GPU,
      trace: changingLoad(MIX, 10.6),
    });
    expect(waits).toBeGreaterThan(1000);
    expect(coverage).toBeGreaterThanOrEqual(0.85);
    expect(coverage).toBeLessThanOrEqual(0.95);
    expect(medianError).toBeLessThanOrEqual(0.25);
  });

  it('change nothing: the waits are those without forecasts, whatever comes', () => {
    const any = fc.record({
      seed: fc.nat(),
      ratePerS: fc.integer({ min: 100, max: 1500 }),
    });
    fc.assert(
      fc.property(any, mix => {
        const trace = generateTrace({
          ...MIX,
          ...mix,
          requests: 300,
          models: ONE,
          cancelShare: 0.1,
        });
        const waits = [true, false].map(forecasts => {
          const gateway = new VirtualGateway({ workers: ONE, cost: COST, forecasts });
          gateway.replay(trace);
          gateway.run();
          return gateway.book.waitsMs;
        });
        expect(waits[0]).toEqual(waits[1]);
      }),
      { numRuns: 20 },
    );
  });
});

describe('a trace from a file', () => {
  const read = (text: string): TraceRequest[] => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'trace.jsonl'), text);
    return readTrace(join(folder, 'trace.jsonl'));
  };

  it('is sorted by time, with defaults for tenant and priority', () => {
    const text =
      '{"at_ms":5,"model":"m","priority":"realtime","tenant":"t"}\n\n{"at_ms":1,"model":"m"}\n';
    expect(read(text)).toEqual([
      { atMs: 1, model: 'm', tenant: 'default', priority: 'batch' },
      { atMs: 5, model: 'm', tenant: 't', priority: 'realtime' },
    ]);
  });

  it.each([
    ['not json', ':1: not JSON'],
    ['[1]\nnull', ':1: at_ms must be'],
    ['null', ':1: not a JSON object'],
    ['{"at_ms":1}', ':1: model and tenant must be text'],
    ['{"at_ms":1,"model":"m"}\n{"at_ms":-1,"model":"m"}', ':2: at_ms must be'],
    ['{"at_ms":1,"model":"m","priority":"high"}', ':1: priority must be realtime or batch'],
  ])('names the first bad line: %j', (text, problem) => {
    expect(() => read(text)).toThrow(problem);
  });

  it('a tenant with one request per second waits at most two service times for each of 3 beside a backlog', () => {
    const cost = { groupMs: 1000, itemMs: 250, prepMs: 40, hopMs: 0.7, maxBatch: 8 };
    const [shared, byTime] = [tenantShares(cost, true), tenantShares(cost, false)];
    expect(shared.steadyWaitMs.max).toBeLessThanOrEqual(2 * 3 * 3000);
    expect(shared.jain).toBeGreaterThanOrEqual(0.99);
    expect(shared.utilisation).toBeGreaterThanOrEqual(0.98 * byTime.utilisation);
  });
});
