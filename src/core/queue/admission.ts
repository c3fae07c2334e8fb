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
export interface Refusal {
  readonly scope: 'model' | 'total';
  readonly bound: 'requests' | 'bytes';
  /** Of its priority. */
  readonly limit: number;
  /** What only REALTIME may use beyond that; 0: nothing. */
  readonly reserved: number;
  /** Requests of the scope that go before it: of REALTIME the other REALTIME ones, of BATCH all. */
  readonly backlog: number;
}

interface Scope extends Pick<Refusal, 'scope'> {
  readonly requests: number;
  readonly bytes: number;
  readonly realtime: number;
  readonly maxRequests: number;
  readonly maxBytes: number;
}

const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** Nothing has left yet, so nothing is known: a worker is probably still loading its model. */
const UNKNOWN_RETRY_MS = 5_000;

/**
 * Who may join the queue, and when a refused one should come back: what goes before it / drain rate (D-08). BATCH is refused
 * first: the last part of each bound is for REALTIME.
 */
export class Admission {
  readonly #bounds: QueueBounds;
  readonly #random: () => number;
  readonly #total = new DrainRate();
  readonly #rates = new Map<string, DrainRate>();

  /** @param random from 0 to less than 1: spreads the hints, so that those refused at one moment do not come back at one moment */
  constructor(bounds: QueueBounds, random: () => number) {
    this.#bounds = bounds;
    this.#random = random;
  }

  /** Undefined when the request fits. */
  check(queue: QueueLoad, request: Pick<ScheduledRequest, 'model' | 'priority' | 'bytes'>): Refusal | undefined {
    const { realtime, batch, bytes } = queue.depthOf(request.model);
    const { maxRequests, maxRequestsPerModel, maxBytes, maxBytesPerModel } = this.#bounds;
    const own = { requests: realtime + batch, bytes, realtime };
    const all = { requests: queue.depth, bytes: queue.bytes, realtime: queue.depthByPriority().realtime };
    return (
      this.#refusal(
        { scope: 'model', ...own, maxRequests: maxRequestsPerModel, maxBytes: maxBytesPerModel },
        request,
      ) ?? this.#refusal({ scope: 'total', ...all, maxRequests, maxBytes }, request)
    );
  }

  /** The refusal in words for its caller, with the time after which there should be room. */
  queueFull({ scope, bound, limit, reserved, backlog }: Refusal, model: string, nowMs: number): DomainError {
    const retryAfterMs = this.retryAfterMs(scope === 'model' ? model : undefined, backlog, nowMs);
    const where = scope === 'model' ? `The queue of model ${model}` : 'The queue';
    const rest = reserved > 0 ? ` for batch; ${reserved} more are reserved for realtime` : '';
    return new DomainError('queue_full', `${where} is at its bound of ${limit} ${bound}${rest}.`, { retryAfterMs });
  }

  /** `left` requests of the model went to a worker: feeds the drain rate. Expired and cancelled ones do not count. */
  drained(model: string, nowMs: number, left = 1): void {
    let rate = this.#rates.get(model);
    if (rate === undefined) this.#rates.set(model, (rate = new DrainRate()));
    rate.record(left, nowMs);
    this.#total.record(left, nowMs);
  }

  /** Milliseconds, 1000 to 60000, spread. Without a model: the drain of all models together. */
  retryAfterMs(model: string | undefined, backlog: number, nowMs: number): number {
    const hintMs = Math.min(this.#drainMs(model, backlog, nowMs), MAX_RETRY_MS / 2);
    return spreadHint(hintMs, this.#random);
  }

  #drainMs(model: string | undefined, backlog: number, nowMs: number): number {
    const rate = model === undefined ? this.#total : this.#rates.get(model);
    const perSecond = rate?.perSecond(nowMs);
    if (perSecond === undefined) return UNKNOWN_RETRY_MS;
    return Math.max(MIN_RETRY_MS, Math.ceil((backlog / perSecond) * 1000));
  }

  #refusal(scope: Scope, { priority, bytes }: Pick<ScheduledRequest, 'priority' | 'bytes'>): Refusal | undefined {
    const isBatch = priority === RequestPriority.BATCH;
    const backlog = isBatch ? scope.requests : scope.realtime;
    const refuse = (bound: Refusal['bound'], max: number, limit: number): Refusal => {
      return { scope: scope.scope, bound, limit, reserved: max - limit, backlog };
    };
    const requests = isBatch ? this.#batchLimit(scope.maxRequests) : scope.maxRequests;
    if (scope.requests >= requests) return refuse('requests', scope.maxRequests, requests);
    // One that is larger than what is left for BATCH can only ever go into an empty queue.
    const most = isBatch && scope.requests > 0 ? this.#batchLimit(scope.maxBytes) : scope.maxBytes;
    return scope.bytes + bytes > most ? refuse('bytes', scope.maxBytes, most) : undefined;
  }

  #batchLimit(max: number): number {
    return Math.max(1, Math.floor(max * (1 - this.#bounds.realtimeReserve)));
  }
}
