import { describe, expect, it } from '@jest/globals';
import {
  type ModelAtDevice,
  type Swap,
  type SwapPolicy,
} from '../../src/core/devices/swap-policy.port.js';
import { RequestPriority } from '../../src/core/request/request-priority.js';
import { type DeviceSetUp } from '../bench/support/simulation/simulated-devices.js';
import { type DeviceCost } from '../bench/support/simulation/simulated-worker.js';
import { type TraceRequest } from '../bench/support/simulation/trace.js';
import { VirtualGateway } from '../bench/support/simulation/virtual-gateway.js';
import { LeastRecentlyUsed } from '../support/least-recently-used.js';

const COST: DeviceCost = { groupMs: 1000, itemMs: 0, prepMs: 0, hopMs: 0, maxBatch: 4 };
const MINUTE_MS = 60_000;
/** Of the scene with equal loads. */
const MINUTES = Number(process.env.DEVICE_MINUTES ?? 60);
const DEVICE = [{ id: 'gpu0', memory: 10 }];
const NO_BOUNDS = {
  maxRequests: 1e9,
  maxRequestsPerModel: 1e9,
  maxBytes: 1e15,
  maxBytesPerModel: 1e15,
  realtimeReserve: 0,
};

type Models = Readonly<Record<string, { readonly memory: number; readonly loadMs: number }>>;

function aGateway(models: Models, more: Partial<DeviceSetUp> = {}, cost = COST, forecasts = false) {
  const placed = Object.entries(models).map(([id, size]) => ({ id, devices: ['gpu0'], ...size }));
  return new VirtualGateway({
    workers: new Map(placed.map(({ id }) => [id, 1])),
    cost,
    rules: { queueTimeoutMs: Infinity, bounds: NO_BOUNDS },
    forecasts,
    devices: { devices: DEVICE, models: placed, ...more },
  });
}

const came = (atMs: number, model: string, priority: 'realtime' | 'batch'): TraceRequest => ({
  ...{ atMs, model, priority, tenant: 'default' },
});

/** So many callers of BATCH, each waiting for its answer. @returns how many answers came when */
function callers(gateway: VirtualGateway, model: string, count: number): number[] {
  const answeredMs: number[] = [];
  const ask = (): void => {
    gateway.submit(came(gateway.nowMs, model, 'batch'), nowMs => {
      answeredMs.push(nowMs);
      gateway.at(nowMs, ask);
    });
  };
  for (let one = 0; one < count; one += 1) gateway.at(0, ask);
  return answeredMs;
}

/** Asks at these instants. @returns how long each answer took */
function person(gateway: VirtualGateway, model: string, atMs: readonly number[]): number[] {
  const tookMs: number[] = [];
  for (const ms of atMs)
    gateway.at(
      ms,
      () => void gateway.submit(came(ms, model, 'realtime'), nowMs => tookMs.push(nowMs - ms)),
    );
  return tookMs.sort((a, b) => a - b);
}

const within = (instants: readonly number[], fromMs: number, toMs: number): number =>
  instants.filter(ms => ms >= fromMs && ms < toMs).length;

describe('models that share a device: a batch client keeps 8 on A, a person asks B once a minute', () => {
  const FOR_MS = 20 * MINUTE_MS;
  const LOAD = { a: 8000, b: 6000 };
  const asks = Array.from({ length: 20 }, (_, minute) => minute * MINUTE_MS + 30_000);

  function run(policy?: SwapPolicy) {
    const models = { a: { memory: 8, loadMs: LOAD.a }, b: { memory: 5, loadMs: LOAD.b } };
    const gateway = aGateway(models, policy && { policy });
    const answers = callers(gateway, 'a', 8);
    const tookMs = person(gateway, 'b', asks);
    gateway.run(FOR_MS);
    tookMs.sort((a, b) => a - b);
    return { answers, tookMs, gateway };
  }

  it('the person is answered 20 of 20, each within a load, the longest running request and a second', () => {
    const { tookMs } = run();
    expect(tookMs).toHaveLength(20);
    expect(tookMs[10]).toBeLessThanOrEqual(LOAD.b + 1000 + 1000 + 1000);
    expect(tookMs[19]).toBeLessThanOrEqual(25_000);
  });

  it('the batch keeps 0.74 of its rate alone, and no five minutes less than 0.9 of its mean', () => {
    const { answers } = run();
    const alone = callersAlone(FOR_MS);
    expect(answers.length / alone).toBeGreaterThanOrEqual(0.74);
    const mean = answers.length / 4;
    for (let at = 0; at < FOR_MS; at += 5 * MINUTE_MS)
      expect(within(answers, at, at + 5 * MINUTE_MS) / mean).toBeGreaterThanOrEqual(0.9);
  });

  it('by least recent use alone, the person is never answered', () => {
    expect(run(new LeastRecentlyUsed()).tookMs).toHaveLength(0);
  });

  function callersAlone(forMs: number): number {
    const gateway = aGateway({ a: { memory: 8, loadMs: LOAD.a } });
    const answers = callers(gateway, 'a', 8);
    gateway.run(forMs);
    return answers.length;
  }
});

/** Each model in turn, for so long. */
class FixedSchedule implements SwapPolicy {
  constructor(
    private readonly ids: readonly string[],
    private readonly residenceMs: number,
    private readonly fit: number,
  ) {}

  plan(models: readonly ModelAtDevice[], _devices: unknown, nowMs: number): readonly Swap[] {
    const turn = Math.floor((nowMs * this.fit) / this.residenceMs);
    const wanted = Array.from(
      { length: this.fit },
      (_, at) => this.ids[(turn + at) % this.ids.length]!,
    );
    const there = models.filter(({ stage }) => stage === 'loading' || stage === 'resident');
    const leaving = there.filter(({ id }) => !wanted.includes(id)).map(({ id }) => id);
    return wanted
      .filter(id => models.some(model => model.id === id && model.stage === 'absent'))
      .map(model => ({ model, device: 'gpu0', leaving, atMs: nowMs, reason: 'waiting' as const }));
  }
}

describe('models that share a device: three with equal load, of which two fit', () => {
  const IDS = ['a', 'b', 'c'];
  const LOAD_MS = 8000;
  const FOR_MS = MINUTES * MINUTE_MS;
  const models = Object.fromEntries(IDS.map(id => [id, { memory: 5, loadMs: LOAD_MS }]));
  /** Of two models that are always there: 4 per second each. */
  const PER_S = 8;

  function trace(load: number, seed: number): readonly TraceRequest[] {
    let state = seed;
    const random = (): number => (state = (state * 16807) % 2147483647) / 2147483647;
    const requests: TraceRequest[] = [];
    for (let ms = 0; ms < FOR_MS; ms += (-Math.log(random()) * 1000) / (load * PER_S))
      requests.push(came(ms, IDS[Math.floor(random() * 3)]!, 'batch'));
    return requests;
  }

  function completed(requests: readonly TraceRequest[], policy?: SwapPolicy) {
    const gateway = aGateway(models, policy && { policy });
    gateway.replay(requests);
    gateway.run(FOR_MS);
    return { gateway, answers: gateway.book.answersMs.batch.length };
  }

  it.each([0.2, 0.6, 0.95])('at load %s it does 0.95 of the best fixed schedule', load => {
    const requests = trace(load, 7);
    const schedules = [40, 80, 160].map(
      s => completed(requests, new FixedSchedule(IDS, s * 1000, 2)).answers,
    );
    const { answers, gateway } = completed(requests);
    expect(answers).toBeGreaterThanOrEqual(0.95 * Math.max(...schedules));
    // Each of the two places on the device is kept so long by a model that is in use.
    const swaps = gateway.devices!.departures.filter(({ inUse }) => inUse).length;
    expect(swaps).toBeLessThanOrEqual((2 * FOR_MS) / (5 * LOAD_MS) + 1);
    expect(gateway.devices!.highestUse).toBeLessThanOrEqual(1);
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
    const gateway = aGateway(models, {}, { ...COST, groupMs: 0 }, true);
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
    const gateway = aGateway(models, {}, { ...COST, maxBatch: 1 });
    const of = (tenant: string, atMs: number, count: number) =>
      Array.from({ length: count }, () => ({ ...came(atMs, 'a', 'batch'), tenant }));
    gateway.replay([...of('many', 0, 8), ...of('few', 1, 4)]);
    gateway.run();
    // In turns the last of the four were the eighth, at 14 s.
    expect(Math.max(...gateway.book.tenantWaitsMs.get('few')!)).toBeLessThan(11_000);
  });
});
