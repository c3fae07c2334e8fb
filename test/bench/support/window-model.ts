import { EventQueue } from './event-queue.js';
import { distribution } from './percentiles.js';
import { exponential, seededRandom, type RandomSource } from './seeded-random.js';

/**
 * What the batch window should do, without a program: a discrete-event model of one
 * gateway lane, one hop each way and one device with request credits (D-02, D-24).
 * Benches print its prediction beside what they measured.
 */
export interface WindowModelOptions {
  readonly policy: 'adaptive' | 'window' | 'none';
  readonly arrivals: ModelArrivals;
  /** Device time of a group, milliseconds. */
  readonly groupCostMs: (size: number) => number;
  /** CPU preparation of a group, milliseconds, spread ± 30 %; default 0. */
  readonly prepMs?: number;
  readonly durationMs?: number;
  readonly maxBatch?: number;
  readonly windowMs?: number;
  readonly quietGapMs?: number;
  /** One way between gateway and worker. */
  readonly hopMs?: number;
  readonly random?: RandomSource;
}

/**
 * `closed`: each caller sends again 0.8 ms + Exp(0.6 ms) after its answer. `poisson`:
 * independent arrivals.
 */
export type ModelArrivals =
  | { readonly kind: 'closed'; readonly callers: number }
  | { readonly kind: 'poisson'; readonly ratePerS: number };

export interface WindowPrediction {
  readonly requestsPerS: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly groupSize: number;
}

interface Waiting {
  readonly enqueuedAtMs: number;
}

const DEFAULTS = {
  prepMs: 0,
  durationMs: 20_000,
  maxBatch: 8,
  windowMs: 50,
  quietGapMs: 5,
  hopMs: 0.7,
};
/**
 * Instants that differ by less are the same instant; keeps a timer that fires on time
 * from finding itself early.
 */
const SAME_INSTANT_MS = 1e-9;
const NEXT_INSTANT_MS = 1e-6;

/**
 * Runs the model; a few tens of milliseconds of CPU for the default 20 s of model time.
 */
export function predictWindow(options: WindowModelOptions): WindowPrediction {
  return new WindowModel(options).run();
}

class WindowModel {
  readonly #options: Required<WindowModelOptions>;
  readonly #events = new EventQueue();
  readonly #latencies: number[] = [];
  readonly #groupSizes: number[] = [];
  readonly #ready: Waiting[] = [];
  #queue: Waiting[] = [];
  #lastArrivalMs = -Infinity;
  #deviceBusy = false;
  #credits: number;

  constructor(options: WindowModelOptions) {
    this.#options = { ...DEFAULTS, random: seededRandom(1), ...options };
    this.#credits = 2 * this.#options.maxBatch;
  }

  run(): WindowPrediction {
    this.#startArrivals();
    this.#events.runUntil(this.#options.durationMs);
    const latency = distribution(this.#latencies);
    return {
      requestsPerS: (latency.count / this.#options.durationMs) * 1000,
      p50Ms: latency.p50,
      p99Ms: latency.p99,
      groupSize: distribution(this.#groupSizes).mean,
    };
  }

  #startArrivals(): void {
    const { arrivals, random } = this.#options;
    if (arrivals.kind === 'poisson') {
      this.#events.schedule(0.1, now => this.#poissonArrival(now, 1000 / arrivals.ratePerS));
      return;
    }
    for (let caller = 0; caller < arrivals.callers; caller++) {
      this.#events.schedule(random() * 5, now => this.#arrive(now));
    }
  }

  #poissonArrival(nowMs: number, meanGapMs: number): void {
    this.#arrive(nowMs);
    const gapMs = exponential(this.#options.random, meanGapMs);
    this.#events.schedule(nowMs + gapMs, now => this.#poissonArrival(now, meanGapMs));
  }

  #arrive(nowMs: number): void {
    this.#queue.push({ enqueuedAtMs: nowMs });
    this.#lastArrivalMs = nowMs;
    this.#pump(nowMs);
  }

  /** Sends every group that may go, then arms a wake for the one that may not yet. */
  #pump(nowMs: number): void {
    while (this.#queue.length > 0 && this.#windowClosed(nowMs)) {
      if (this.#credits === 0) return;
      this.#send(nowMs);
    }
    const first = this.#queue[0];
    if (first === undefined || this.#credits === 0) return;
    const closesAtMs = Math.min(
      first.enqueuedAtMs + this.#options.windowMs,
      this.#lastArrivalMs + this.#quietGapMs(),
    );
    this.#events.schedule(Math.max(closesAtMs, nowMs + NEXT_INSTANT_MS), now => this.#pump(now));
  }

  #windowClosed(nowMs: number): boolean {
    const { maxBatch, windowMs } = this.#options;
    const first = this.#queue[0];
    if (first === undefined) return false;
    if (this.#queue.length >= maxBatch || nowMs - first.enqueuedAtMs >= windowMs - SAME_INSTANT_MS)
      return true;
    return nowMs - this.#lastArrivalMs >= this.#quietGapMs() - SAME_INSTANT_MS;
  }

  #quietGapMs(): number {
    switch (this.#options.policy) {
      case 'adaptive':
        return this.#deviceBusy ? 0 : this.#options.quietGapMs;
      case 'window':
        return Infinity;
      case 'none':
        return 0;
    }
  }

  #send(nowMs: number): void {
    const { maxBatch, prepMs, hopMs, random } = this.#options;
    const group = this.#queue.splice(0, Math.min(maxBatch, this.#credits));
    this.#credits -= group.length;
    const preparedMs = prepMs === 0 ? 0 : prepMs * (0.7 + 0.6 * random());
    this.#events.schedule(nowMs + hopMs + preparedMs, now => {
      this.#ready.push(...group);
      this.#startDevice(now);
    });
  }

  #startDevice(nowMs: number): void {
    if (this.#deviceBusy || this.#ready.length === 0) return;
    const group = this.#ready.splice(0, this.#options.maxBatch);
    this.#deviceBusy = true;
    this.#groupSizes.push(group.length);
    this.#events.schedule(nowMs + this.#options.groupCostMs(group.length), now =>
      this.#finish(now, group),
    );
  }

  #finish(nowMs: number, group: readonly Waiting[]): void {
    this.#deviceBusy = false;
    this.#startDevice(nowMs);
    this.#events.schedule(nowMs + this.#options.hopMs, now => this.#answer(now, group));
  }

  #answer(nowMs: number, group: readonly Waiting[]): void {
    this.#credits += group.length;
    for (const { enqueuedAtMs } of group) {
      this.#latencies.push(nowMs - enqueuedAtMs);
      this.#callAgain(nowMs);
    }
    this.#pump(nowMs);
  }

  #callAgain(nowMs: number): void {
    if (this.#options.arrivals.kind !== 'closed') return;
    const thinkMs = 0.8 + exponential(this.#options.random, 0.6);
    this.#events.schedule(nowMs + thinkMs, now => this.#arrive(now));
  }
}
