import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type OnApplicationShutdown, type Provider } from '@nestjs/common';
import { type MonotonicClock } from '../../core/shared/monotonic-clock.js';
import { ProcessClock } from '../clock/clock.module.js';

/** Nothing happened for this long: all requests wait for a device. */
const QUIET_MS = 2;
/** Young objects worth a collection. V8 itself lets them grow to some 40 MiB. */
const WORTH_BYTES = 8 * 2 ** 20;

/**
 * Collects young garbage while the process has nothing to do, so that less of it is left for the moment when V8 must.
 *
 * V8 collects when enough has been allocated, which is by definition in the middle of work: 8 to 10 ms of standing
 * still, about once in 350 requests, because every call that went through node:http2 survives until then (its table of
 * streams is a `Map`; see `SlotMap` for what that does). A process that waits for a device every few milliseconds can
 * do it then, in smaller portions. One that is never quiet, or makes little garbage, is left alone.
 */
export class IdleGc implements OnApplicationShutdown {
  #lastMs = 0;
  #check: NodeJS.Timeout | undefined;

  constructor(
    private readonly clock: MonotonicClock,
    private readonly heap: YoungHeap = V8_YOUNG_HEAP,
  ) {}

  onApplicationShutdown(): void {
    clearTimeout(this.#check);
  }

  /** Something happened. A few dozen nanoseconds. */
  touched(): void {
    this.#lastMs = this.clock.nowMs();
    this.#check ??= this.#later(QUIET_MS);
  }

  #later(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#look(), delayMs).unref();
  }

  #look(): void {
    const quietMs = this.clock.nowMs() - this.#lastMs;
    this.#check = quietMs < QUIET_MS ? this.#later(QUIET_MS - quietMs) : undefined;
    if (this.#check === undefined && this.heap.usedBytes() > WORTH_BYTES) this.heap.collect();
  }
}

/** Where new objects are. */
export interface YoungHeap {
  usedBytes(): number;
  collect(): void;
}

type Collect = (options: { readonly type: 'minor' | 'major'; readonly flavor?: 'last-resort' }) => void;
let collectNow: Collect | undefined;

/** Collects before it returns. */
export const collectGarbage: Collect = options => (collectNow ??= collector())(options);

/** V8 gives its collector to contexts that are made after the flag is set. */
function collector(): Collect {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collect;
}

const V8_YOUNG_HEAP: YoungHeap = {
  usedBytes: () => getHeapSpaceStatistics().find(space => space.space_name === 'new_space')?.space_used_size ?? 0,
  collect: () => collectGarbage({ type: 'minor' }),
};

export const pauseCollectorProvider: Provider = {
  provide: IdleGc,
  inject: [ProcessClock],
  useFactory: (clock: ProcessClock) => new IdleGc(clock),
};
