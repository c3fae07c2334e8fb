import { describe, expect, it } from '@jest/globals';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import {
  aGateway,
  came,
  COST,
  equalLoads,
  PERSON_LOAD,
  PERSON_MINUTES,
  personBesideBatch,
} from '../bench/support/simulation/device-scenes.js';
import { type TraceRequest } from '../bench/support/simulation/trace.js';
import { LeastRecentlyUsed } from '../support/least-recently-used.js';

/** Of the scene with equal loads. */
const MINUTES = Number(process.env.DEVICE_MINUTES ?? 60);

describe('models that share a device: a batch client keeps 8 on A, a person asks B once a minute', () => {
  const { tookMs, batchOfAlone, worstOfMean } = personBesideBatch();

  it('the person is answered 20 of 20, each within a load, the longest running request and a second', () => {
    expect(tookMs).toHaveLength(PERSON_MINUTES);
    expect(tookMs[10]).toBeLessThanOrEqual(PERSON_LOAD.b + 1000 + 1000 + 1000);
    expect(tookMs[19]).toBeLessThanOrEqual(25_000);
  });

  it('the batch keeps 0.74 of its rate alone, and no five minutes less than 0.9 of its mean', () => {
    expect(batchOfAlone).toBeGreaterThanOrEqual(0.74);
    expect(worstOfMean).toBeGreaterThanOrEqual(0.9);
  });

  it('by least recent use alone, the person is never answered', () => {
    expect(personBesideBatch(new LeastRecentlyUsed()).tookMs).toHaveLength(0);
  });
});

describe('models that share a device: three with equal load, of which two fit', () => {
  it.each([0.2, 0.6, 0.95])('at load %s it does 0.95 of the best fixed schedule', load => {
    const { ofBestSchedule, swaps, mostSwaps, highestUse } = equalLoads(load, MINUTES);
    expect(ofBestSchedule).toBeGreaterThanOrEqual(0.95);
    // Each of the two places on the device is kept so long by a model that is in use.
    expect(swaps).toBeLessThanOrEqual(mostSwaps);
    expect(highestUse).toBeLessThanOrEqual(1);
  });
});

describe('models that share a device: who waits together', () => {
  const models = { a: { memory: 8, loadMs: 8000 }, b: { memory: 8, loadMs: 6000 } };

  it('loads once for 4 first calls, and not at all for a call that leaves during the load', () => {
    const gateway = aGateway(models);
    gateway.replay([0, 1, 2, 3].map(ms => came(ms, 'a', 'batch')));
    gateway.run();
    const loads = gateway.devices!.loads.length;
    gateway.replay([{ ...came(gateway.nowMs + 1, 'b', 'batch'), cancelAfterMs: 3000 }]);
    gateway.run();
    expect([loads, gateway.book.answersMs.batch.length]).toEqual([1, 4]);
    expect(gateway.devices!.departures.at(-1)).toMatchObject({ model: 'b', inUse: false });
    expect(gateway.devices!.placements.used('gpu0')).toBe(0);
  });

  it('answers two models that are asked for in the same second', () => {
    const gateway = aGateway(models);
    gateway.replay([came(0, 'a', 'batch'), came(500, 'b', 'batch')]);
    gateway.run();
    expect(gateway.book.answersMs.batch.map(ms => Math.ceil(ms / 1000))).toEqual([9, 16]);
  });

  it('lets 60 s of work on A end while B is asked for, and sends A nothing more', () => {
    const gateway = aGateway(models);
    gateway.replay([
      { ...came(0, 'a', 'realtime'), costMs: 60_000 },
      came(20_000, 'b', 'realtime'),
      came(21_000, 'a', 'realtime'),
    ]);
    gateway.run();
    const [long, b, a] = gateway.book.answersMs.realtime;
    expect([long, b]).toEqual([69_000, 69_000 - 20_000 + 100 + 6000 + 1000]);
    expect(a).toBeGreaterThan(b!);
  });

  it('forecasts the wait for B behind 60 s of work on A within a fifth', () => {
    const gateway = aGateway(models, {}, { cost: { ...COST, groupMs: 0 }, forecasts: true });
    const work = (atMs: number, model: string, ms: number): TraceRequest => ({
      ...{ ...came(atMs, model, 'realtime'), costMs: ms, estimatedMs: ms },
    });
    const known = [0, 50_000, 100_000].flatMap(ms => [
      work(ms, 'a', 4000),
      work(ms + 25_000, 'b', 4000),
    ]);
    gateway.replay([...known, work(200_000, 'a', 60_000), work(225_000, 'b', 1000)]);
    let forecastMs = 0;
    gateway.at(224_999, nowMs => {
      const asked = { model: 'b', priority: RequestPriority.REALTIME, costMs: 1000 };
      forecastMs = gateway.forecaster.ofNew(asked, nowMs)!.startInMs.p50;
    });
    gateway.run();
    const waitedMs = gateway.book.waitsMs.realtime.at(-1)!;
    expect(forecastMs / waitedMs).toBeGreaterThan(0.8);
    expect(forecastMs / waitedMs).toBeLessThan(1.2);
  });

  it('charges the load by their requests to those who wait for it: who has fewer is sent first', () => {
    const gateway = aGateway(models, {}, { cost: { ...COST, maxBatch: 1 } });
    const of = (tenant: string, atMs: number, count: number) =>
      Array.from({ length: count }, () => ({ ...came(atMs, 'a', 'batch'), tenant }));
    gateway.replay([...of('many', 0, 8), ...of('few', 1, 4)]);
    gateway.run();
    // In turns the last of the four were the eighth, at 14 s.
    expect(Math.max(...gateway.book.tenantWaitsMs.get('few')!)).toBeLessThan(11_000);
  });
});
