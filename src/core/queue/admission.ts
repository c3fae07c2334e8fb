import { RequestPriority } from '../request/request-priority.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';
import { DomainError } from '../shared/domain-error.js';
import { spreadHint } from '../shared/retry-hint.js';
import { DrainRate } from './drain-rate.js';

/** Bounds of D-08. All at least 1. */
export interface QueueBounds {
  readonly maxRequests: number;
  readonly maxRequestsPerModel: number;
  readonly maxBytes: number;
  readonly maxBytesPerModel: number;
  /** Share of each bound that only REALTIME may use: 0 to less than 1. */
  readonly realtimeReserve: number;
}

/** The part of PriorityQueue that admission reads. */
export interface QueueLoad {
  readonly depth: number;
  readonly bytes: number;
  depthByPriority(): { readonly realtime: number; readonly batch: number };
  depthOf(model: string): { readonly realtime: number; readonly batch: number; readonly bytes: number };
}

/** The first bound that a request would break. */
export interface QueueRefusal {
  readonly scope: 'model' | 'total';
  readonly bound: 'requests' | 'bytes';
  /** The bound for its priority. */
  readonly limit: number;
  /** Further capacity that only REALTIME may use. */
  readonly reserved: number;
  /** Requests of the scope ahead of it: for REALTIME the other REALTIME ones, for BATCH all. */
  readonly backlog: number;
}

interface Scope extends Pick<QueueRefusal, 'scope'> {
  readonly requests: number;
  readonly bytes: number;
  readonly realtime: number;
  readonly maxRequests: number;
  readonly maxBytes: number;
}

const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** Before the first dispatch there is no rate: a worker is probably still loading its model. */
const UNKNOWN_RETRY_MS = 5_000;

/**
 * Accepts or rejects requests, and computes when a rejected caller should retry: requests ahead / drain rate (D-08).
 * BATCH is rejected first: the last part of each bound is reserved for REALTIME.
 */
export class Admission {
  readonly #total = new DrainRate();
  readonly #rates = new Map<string, DrainRate>();

  /** @param random 0 to 1: spreads the hints, so that callers rejected together do not retry together */
  constructor(
    private readonly bounds: QueueBounds,
    private readonly random: () => number,
  ) {}

  /** @returns undefined if the request fits */
  check(queue: QueueLoad, request: Pick<ScheduledRequest, 'model' | 'priority' | 'bytes'>): QueueRefusal | undefined {
    const { realtime, batch, bytes } = queue.depthOf(request.model);
    const { maxRequests, maxRequestsPerModel, maxBytes, maxBytesPerModel } = this.bounds;
    const own = { requests: realtime + batch, bytes, realtime };
    const all = { requests: queue.depth, bytes: queue.bytes, realtime: queue.depthByPriority().realtime };
    return (
      this.#refusal(
        { scope: 'model', ...own, maxRequests: maxRequestsPerModel, maxBytes: maxBytesPerModel },
        request,
      ) ?? this.#refusal({ scope: 'total', ...all, maxRequests, maxBytes }, request)
    );
  }

  /** The error for the caller, with the time after which there should be room. */
  queueFull({ scope, bound, limit, reserved, backlog }: QueueRefusal, model: string, nowMs: number): DomainError {
    const retryAfterMs = this.retryAfterMs(scope === 'model' ? model : undefined, backlog, nowMs);
    const where = scope === 'model' ? `The queue of model ${model}` : 'The queue';
    const rest = reserved > 0 ? ` for batch; ${reserved} more are reserved for realtime` : '';
    return new DomainError('queue_full', `${where} is at its bound of ${limit} ${bound}${rest}.`, { retryAfterMs });
  }

  /** `left` requests of the model were sent to a worker. Expired and cancelled ones do not count. */
  drained(model: string, nowMs: number, left = 1): void {
    let rate = this.#rates.get(model);
    if (rate === undefined) this.#rates.set(model, (rate = new DrainRate()));
    rate.record(left, nowMs);
    this.#total.record(left, nowMs);
  }

  /** Milliseconds, 1000 to 60000, with jitter. Without a model, the rate of all models together counts. */
  retryAfterMs(model: string | undefined, backlog: number, nowMs: number): number {
    const hintMs = Math.min(this.#drainMs(model, backlog, nowMs), MAX_RETRY_MS / 2);
    return spreadHint(hintMs, this.random);
  }

  #drainMs(model: string | undefined, backlog: number, nowMs: number): number {
    const rate = model === undefined ? this.#total : this.#rates.get(model);
    const perSecond = rate?.perSecond(nowMs);
    if (perSecond === undefined) return UNKNOWN_RETRY_MS;
    return Math.max(MIN_RETRY_MS, Math.ceil((backlog / perSecond) * 1000));
  }

  #refusal(scope: Scope, { priority, bytes }: Pick<ScheduledRequest, 'priority' | 'bytes'>): QueueRefusal | undefined {
    const isBatch = priority === RequestPriority.BATCH;
    const backlog = isBatch ? scope.requests : scope.realtime;
    const reject = (bound: QueueRefusal['bound'], max: number, limit: number): QueueRefusal => {
      return { scope: scope.scope, bound, limit, reserved: max - limit, backlog };
    };
    const requests = isBatch ? this.#batchLimit(scope.maxRequests) : scope.maxRequests;
    if (scope.requests >= requests) return reject('requests', scope.maxRequests, requests);
    // A request larger than the part for BATCH fits into an empty queue only.
    const most = isBatch && scope.requests > 0 ? this.#batchLimit(scope.maxBytes) : scope.maxBytes;
    return scope.bytes + bytes > most ? reject('bytes', scope.maxBytes, most) : undefined;
  }

  #batchLimit(max: number): number {
    return Math.max(1, Math.floor(max * (1 - this.bounds.realtimeReserve)));
  }
}
