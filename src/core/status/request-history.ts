import { type DispatchEvent } from '../dispatch/dispatch-event.js';
import { type ErrorCode } from '../errors/domain-error.js';

/** State of the queue of a model at the end of a step. */
interface ModelGauges {
  readonly waiting: number;
  readonly inFlight: number;
  readonly oldestWaitMs: number;
}

/** Requests of one model in one step. */
interface ModelCounts {
  /** Accepted into the queue. */
  readonly arrived: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Never accepted: `arrived` does not count them. */
  readonly refused: number;
}

/**
 * One model in one step. Waits are those of requests that a worker took in it; absent:
 * it took none.
 */
export interface ModelPoint extends ModelCounts, ModelGauges {
  /** Of the failed ones; absent: none. */
  readonly failures?: ReadonlyMap<ErrorCode, number>;
  readonly waitP50Ms?: number;
  readonly waitP95Ms?: number;
}

export interface HistoryPoint {
  /** End of the step, as its caller counts time. */
  readonly at: number;
  /** Models with nothing to report are absent. */
  readonly models: ReadonlyMap<string, ModelPoint>;
}

/** Requests per second. */
export interface ModelRates extends ModelCounts {
  /** The code that most of the failed ones have. */
  readonly commonestFailure?: ErrorCode;
}

type Tally = { -readonly [K in keyof ModelCounts]: number } & {
  readonly waits: WaitHistogram;
  readonly failures: Map<ErrorCode, number>;
};

const newTally = (): Tally => ({
  arrived: 0,
  completed: 0,
  failed: 0,
  cancelled: 0,
  refused: 0,
  waits: new WaitHistogram(),
  failures: new Map(),
});

const RATE_MS = 60_000;
/**
 * A rate over less time than this says little: a single request would be many per second.
 */
const SHORTEST_RATE_MS = 1000;

/**
 * What the dispatch events add up to, by model and step: a ring of the last `steps` steps
 * (D-23). A few additions per event; its memory depends on the number of models and
 * steps, never on the number of requests.
 */
export class RequestHistory {
  readonly #points: HistoryPoint[] = [];
  readonly #ends: number[] = [];
  #open = new Map<string, Tally>();

  constructor(
    private readonly options: {
      /** How many steps are kept; older ones are dropped. */
      readonly steps: number;
      /** Monotonic milliseconds at which it starts. */
      readonly startMs: number;
    },
  ) {}

  readonly apply = (event: DispatchEvent): void => {
    const { model } = event;
    let tally = this.#open.get(model);
    if (tally === undefined) this.#open.set(model, (tally = newTally()));
    if (event.type === 'accepted') tally.arrived++;
    else if (event.type === 'rejected') tally.refused++;
    else if (event.type === 'leased' && event.attempt === 1) tally.waits.add(event.queueWaitMs);
    else if (event.type === 'settled') {
      tally[event.status]++;
      if (event.status === 'failed' && event.code)
        tally.failures.set(event.code, (tally.failures.get(event.code) ?? 0) + 1);
    }
  };

  /** Ends the step. @param at as `HistoryPoint.at` */
  close(nowMs: number, at: number, gauges: ReadonlyMap<string, ModelGauges>): void {
    const models = new Map<string, ModelPoint>();
    for (const model of new Set([...gauges.keys(), ...this.#open.keys()])) {
      const point = pointOf(this.#open.get(model) ?? newTally(), gauges.get(model));
      if (Object.values(point).some(value => value !== 0 && value !== undefined))
        models.set(model, point);
    }
    this.#points.push({ at, models });
    this.#ends.push(nowMs);
    this.#open = new Map();
    if (this.#points.length > this.options.steps) {
      this.#points.shift();
      this.#ends.shift();
    }
  }

  /** The last `count` ended steps, oldest first. */
  points(count: number): readonly HistoryPoint[] {
    return this.#points.slice(-count);
  }

  /** Over about the last minute, the step that runs included. */
  rates(model: string, nowMs: number): ModelRates {
    const first = this.#ends.findLastIndex(end => end <= nowMs - RATE_MS) + 1;
    const recent: (Partial<Tally | ModelPoint> | undefined)[] = this.#points
      .slice(first)
      .map(({ models }) => models.get(model));
    recent.push(this.#open.get(model));
    const sinceMs = this.#ends[first - 1] ?? Math.max(this.options.startMs, nowMs - RATE_MS);
    const seconds = Math.max(SHORTEST_RATE_MS, nowMs - sinceMs) / 1000;
    const rate = (name: keyof ModelCounts): number =>
      recent.reduce((sum, counts) => sum + (counts?.[name] ?? 0), 0) / seconds;
    const commonestFailure = commonest(recent.flatMap(counts => [...(counts?.failures ?? [])]));
    return {
      arrived: rate('arrived'),
      completed: rate('completed'),
      failed: rate('failed'),
      cancelled: rate('cancelled'),
      refused: rate('refused'),
      commonestFailure,
    };
  }
}

function commonest(counts: readonly (readonly [ErrorCode, number])[]): ErrorCode | undefined {
  const sums = new Map<ErrorCode, number>();
  for (const [code, count] of counts) sums.set(code, (sums.get(code) ?? 0) + count);
  return [...sums].sort(([, a], [, b]) => b - a)[0]?.[0];
}

function pointOf({ waits, failures, ...counts }: Tally, gauges?: ModelGauges): ModelPoint {
  const { waiting = 0, inFlight = 0, oldestWaitMs = 0 } = gauges ?? {};
  return {
    ...counts,
    waiting,
    inFlight,
    oldestWaitMs,
    failures: failures.size > 0 ? failures : undefined,
    waitP50Ms: waits.quantile(0.5),
    waitP95Ms: waits.quantile(0.95),
  };
}

/**
 * Each bucket of waits is a tenth wider than the one before: a quantile is off by 5
 * % at most.
 */
const GROWTH = Math.log(1.1);

/** Waits of any number of requests in the memory of about a hundred counters. */
export class WaitHistogram {
  readonly #buckets = new Map<number, number>();
  #count = 0;

  add(waitMs: number): void {
    const bucket = Math.floor(Math.log(1 + Math.max(0, waitMs)) / GROWTH);
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + 1);
    this.#count += 1;
  }

  /** Milliseconds; undefined when there is no wait. */
  quantile(share: number): number | undefined {
    let left = Math.ceil(share * this.#count);
    for (const [bucket, count] of [...this.#buckets].sort(([a], [b]) => a - b)) {
      left -= count;
      if (left <= 0) return Math.exp((bucket + 0.5) * GROWTH) - 1;
    }
    return undefined;
  }
}
