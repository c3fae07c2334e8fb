import {
  type ModelAtDevice,
  type Swap,
  type SwapPolicy,
} from '../../../../src/core/devices/swap-policy.port.js';
import { type DeviceSetUp } from './simulated-devices.js';
import { type DeviceCost } from './simulated-worker.js';
import { type TraceRequest } from './trace.js';
import { VirtualGateway } from './virtual-gateway.js';

/** Groups of up to 4, a second each. */
export const COST: DeviceCost = { groupMs: 1000, itemMs: 0, prepMs: 0, hopMs: 0, maxBatch: 4 };
const MINUTE_MS = 60_000;

type Models = Readonly<Record<string, { readonly memory: number; readonly loadMs: number }>>;

/** A gateway in virtual time whose models share a device with memory 10. */
export function aGateway(
  models: Models,
  more: Partial<DeviceSetUp> = {},
  { cost = COST, forecasts = false }: { cost?: DeviceCost; forecasts?: boolean } = {},
): VirtualGateway {
  const placed = Object.entries(models).map(([id, size]) => ({ id, devices: ['gpu0'], ...size }));
  return new VirtualGateway({
    workers: new Map(placed.map(({ id }) => [id, 1])),
    cost,
    rules: {
      queueTimeoutMs: Infinity,
      bounds: {
        ...{ maxRequests: 1e9, maxRequestsPerModel: 1e9, realtimeReserve: 0 },
        ...{ maxBytes: 1e15, maxBytesPerModel: 1e15 },
      },
    },
    forecasts,
    devices: { devices: [{ id: 'gpu0', memory: 10 }], models: placed, ...more },
  });
}

export const came = (
  atMs: number,
  model: string,
  priority: 'realtime' | 'batch',
): TraceRequest => ({ ...{ atMs, model, priority, tenant: 'default' } });

/** So many callers of BATCH, each waiting for its answer. @returns when answers came */
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

/** Asks at these instants. @returns how long answers took */
function person(gateway: VirtualGateway, model: string, atMs: readonly number[]): number[] {
  const tookMs: number[] = [];
  for (const ms of atMs)
    gateway.at(ms, () => {
      gateway.submit(came(ms, model, 'realtime'), nowMs => tookMs.push(nowMs - ms));
    });
  return tookMs;
}

/** Of the scene with a person, in milliseconds. */
export const PERSON_LOAD = { a: 8000, b: 6000 };
export const PERSON_MINUTES = 20;

export interface PersonScene {
  /** How long answers of the person took, sorted; of 20. Milliseconds. */
  readonly tookMs: readonly number[];
  /** Answers of the batch, of what it has alone. */
  readonly batchOfAlone: number;
  /** The worst five minutes of the batch, of its mean. */
  readonly worstOfMean: number;
}

/** A batch client keeps 8 on A, a person asks B once a minute, for 20 minutes. */
export function personBesideBatch(policy?: SwapPolicy): PersonScene {
  const forMs = PERSON_MINUTES * MINUTE_MS;
  const a = { memory: 8, loadMs: PERSON_LOAD.a };
  const alone = aGateway({ a });
  const answersAlone = callers(alone, 'a', 8);
  alone.run(forMs);
  const b = { memory: 5, loadMs: PERSON_LOAD.b };
  const gateway = aGateway({ a, b }, policy && { policy });
  const answers = callers(gateway, 'a', 8);
  const asks = Array.from({ length: PERSON_MINUTES }, (_, minute) => minute * MINUTE_MS + 30_000);
  const tookMs = person(gateway, 'b', asks);
  gateway.run(forMs);
  const fiveMs = 5 * MINUTE_MS;
  const counts = Array.from(
    { length: forMs / fiveMs },
    (_, at) => answers.filter(ms => ms >= at * fiveMs && ms < (at + 1) * fiveMs).length,
  );
  return {
    tookMs: tookMs.sort((one, other) => one - other),
    batchOfAlone: answers.length / answersAlone.length,
    worstOfMean: Math.min(...counts) / (answers.length / counts.length),
  };
}

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

export interface EqualLoads {
  /** Answers, of those of the best of three fixed schedules. */
  readonly ofBestSchedule: number;
  /** Departures of models in use. */
  readonly swaps: number;
  /** Windows of one residence in each of the two places, and one. */
  readonly mostSwaps: number;
  /** Of the device, at any instant. */
  readonly highestUse: number;
}

/**
 * Three models with equal load, of which two fit; Poisson.
 * @param load of what two models do that are always there
 */
export function equalLoads(load: number, minutes: number): EqualLoads {
  const ids = ['a', 'b', 'c'];
  const loadMs = 8000;
  const forMs = minutes * MINUTE_MS;
  const requests = poisson(ids, (load * 8) / 1000, forMs);
  const completed = (policy?: SwapPolicy) => {
    const models = Object.fromEntries(ids.map(id => [id, { memory: 5, loadMs }]));
    const gateway = aGateway(models, policy && { policy });
    gateway.replay(requests);
    gateway.run(forMs);
    return { devices: gateway.devices!, answers: gateway.book.answersMs.batch.length };
  };
  const schedules = [40, 80, 160].map(
    seconds => completed(new FixedSchedule(ids, seconds * 1000, 2)).answers,
  );
  const { answers, devices } = completed();
  return {
    ofBestSchedule: answers / Math.max(...schedules),
    swaps: devices.departures.filter(({ inUse }) => inUse).length,
    mostSwaps: (2 * forMs) / (5 * loadMs) + 1,
    highestUse: devices.highestUse,
  };
}

/** @param perMs arrivals per millisecond */
function poisson(ids: readonly string[], perMs: number, forMs: number): readonly TraceRequest[] {
  let state = 7;
  const random = (): number => (state = (state * 16807) % 2147483647) / 2147483647;
  const requests: TraceRequest[] = [];
  for (let ms = 0; ms < forMs; ms += -Math.log(random()) / perMs)
    requests.push(came(ms, ids[Math.floor(random() * ids.length)]!, 'batch'));
  return requests;
}
