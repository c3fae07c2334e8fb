import { DomainError } from '../shared/domain-error.js';
import { DrainRate } from './drain-rate.js';

/** Bounds of D-08. All at least 1. */
export interface QueueBounds {
  readonly maxRequests: number;
  readonly maxRequestsPerModel: number;
  readonly maxBytes: number;
  readonly maxBytesPerModel: number;
}

/** The part of PriorityQueue that admission reads. */
export interface QueueLoad {
  readonly depth: number;
  readonly bytes: number;
  depthOf(model: string): { readonly realtime: number; readonly batch: number; readonly bytes: number };
}

/** The first bound that a request would break. */
export interface Refusal {
  readonly scope: 'model' | 'total';
  readonly bound: 'requests' | 'bytes';
  readonly limit: number;
  /** Requests that must drain before there is room for sure: the scope's depth. */
  readonly backlog: number;
}

const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** Nothing has left yet, so nothing is known: a worker is probably still loading its model. */
const UNKNOWN_RETRY_MS = 5_000;

/** Who may join the queue, and when a refused one should come back: backlog / drain rate (D-08). */
export class Admission {
  readonly #bounds: QueueBounds;
  readonly #total = new DrainRate();
  readonly #rates = new Map<string, DrainRate>();

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds;
  }

  /** Undefined when one more request of `bytes` bytes fits. */
  check(queue: QueueLoad, model: string, bytes: number): Refusal | undefined {
    const own = queue.depthOf(model);
    const waiting = own.realtime + own.batch;
    const { maxRequests, maxRequestsPerModel, maxBytes, maxBytesPerModel } = this.#bounds;
    if (waiting >= maxRequestsPerModel) return refusal('model', 'requests', maxRequestsPerModel, waiting);
    if (own.bytes + bytes > maxBytesPerModel) return refusal('model', 'bytes', maxBytesPerModel, waiting);
    if (queue.depth >= maxRequests) return refusal('total', 'requests', maxRequests, queue.depth);
    if (queue.bytes + bytes > maxBytes) return refusal('total', 'bytes', maxBytes, queue.depth);
    return undefined;
  }

  /** The refusal in words for its caller, with the time after which there should be room. */
  queueFull({ scope, bound, limit, backlog }: Refusal, model: string, nowMs: number): DomainError {
    const retryAfterMs = this.retryAfterMs(scope === 'model' ? model : undefined, backlog, nowMs);
    const where = scope === 'model' ? `The queue of model ${model}` : 'The queue';
    return new DomainError('queue_full', `${where} is at its bound of ${limit} ${bound}.`, { retryAfterMs });
  }

  /** `left` requests of the model went to a worker: feeds the drain rate. Expired and cancelled ones do not count. */
  drained(model: string, nowMs: number, left = 1): void {
    let rate = this.#rates.get(model);
    if (rate === undefined) this.#rates.set(model, (rate = new DrainRate()));
    rate.record(left, nowMs);
    this.#total.record(left, nowMs);
  }

  /** Milliseconds, 1000 to 60000. Without a model: the drain of all models together. */
  retryAfterMs(model: string | undefined, backlog: number, nowMs: number): number {
    const rate = model === undefined ? this.#total : this.#rates.get(model);
    const perSecond = rate?.perSecond(nowMs);
    if (perSecond === undefined) return UNKNOWN_RETRY_MS;
    return Math.min(MAX_RETRY_MS, Math.max(MIN_RETRY_MS, Math.ceil((backlog / perSecond) * 1000)));
  }
}

function refusal(scope: Refusal['scope'], bound: Refusal['bound'], limit: number, backlog: number): Refusal {
  return { scope, bound, limit, backlog };
}
