import { DomainError } from '../errors/domain-error.js';
import { spreadHint } from '../errors/retry-hint.js';
import { type TenantLoad } from '../order/weighted-lane.js';
import { DEFAULT_TENANT } from '../request/request-key.js';
import { RequestPriority } from '../request/request-priority.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';
import { DrainRate } from './drain-rate.js';

/** The part of PriorityQueue that admission reads. */
export interface QueueLoad {
  readonly depth: number;
  readonly bytes: number;
  depthByPriority(): { readonly realtime: number; readonly batch: number };
  depthOf(model: string): {
    readonly realtime: number;
    readonly batch: number;
    readonly bytes: number;
  };
  /** A tenant's load of one model, or of all; absent: all requests count as one tenant's. */
  loadOf?(tenant: string, model?: string): TenantLoad;
}

/** The first bound that a request would break. */
interface QueueRefusal {
  readonly scope: 'model' | 'total';
  readonly bound: 'requests' | 'bytes';
  /** The bound for the priority of the request. */
  readonly limit: number;
  /** Further capacity that only REALTIME may use. */
  readonly reserved: number;
  /**
   * Requests of the scope ahead of it: for REALTIME the other REALTIME ones,
   * for BATCH all.
   */
  readonly backlog: number;
}

type AskedRequest = Pick<ScheduledRequest, 'model' | 'priority' | 'bytes' | 'tenant'>;

type Amounts = Readonly<Record<QueueRefusal['bound'], number>>;

/** What waits of one model, or of all, and how much may. */
interface Scope {
  readonly name: QueueRefusal['scope'];
  readonly held: Amounts;
  readonly max: Amounts;
  /** REALTIME requests among those that are held. */
  readonly realtime: number;
}

/**
 * Beyond each bound, as a part of it: for tenants that hold less than their part
 * of the queue.
 */
const TENANT_RESERVE = 0.25;
const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/**
 * Before the first dispatch there is no rate: a worker is probably still
 * loading its model.
 */
const UNKNOWN_RETRY_MS = 5_000;

/**
 * Accepts or rejects requests, and computes when a rejected caller should retry (D-08).
 * BATCH is rejected first: the last part of each bound is reserved for REALTIME. At a
 * bound, a tenant that holds an equal part of it is rejected, and one that holds less may
 * exceed it by a quarter: a tenant that fills the queue does not lock others out. A
 * single tenant has the whole bound and no more.
 */
export class Admission {
  readonly #total = new DrainRate();
  readonly #rates = new Map<string, DrainRate>();

  /**
   * @param random 0 to 1: spreads the hints, so that callers rejected together do
   *   not retry together
   */
  constructor(
    /** D-08. All at least 1. */
    private readonly bounds: {
      readonly maxRequests: number;
      readonly maxRequestsPerModel: number;
      readonly maxBytes: number;
      readonly maxBytesPerModel: number;
      /** Share of each bound that only REALTIME may use: 0 to less than 1. */
      readonly realtimeReserve: number;
    },
    private readonly random: () => number,
  ) {}

  /** @returns undefined if the request fits */
  check(queue: QueueLoad, request: AskedRequest): QueueRefusal | undefined {
    const { realtime, batch, bytes } = queue.depthOf(request.model);
    const { maxRequests, maxRequestsPerModel, maxBytes, maxBytesPerModel } = this.bounds;
    const requests = realtime + batch;
    const part = 1 - this.bounds.realtimeReserve;
    // No bound is near, not even that of BATCH: so it is for most requests.
    if (
      requests + 1 <= maxRequestsPerModel * part &&
      bytes + request.bytes <= maxBytesPerModel * part &&
      queue.depth + 1 <= maxRequests * part &&
      queue.bytes + request.bytes <= maxBytes * part
    )
      return undefined;
    const own: Scope = {
      name: 'model',
      held: { requests, bytes },
      max: { requests: maxRequestsPerModel, bytes: maxBytesPerModel },
      realtime,
    };
    const all: Scope = {
      name: 'total',
      held: { requests: queue.depth, bytes: queue.bytes },
      max: { requests: maxRequests, bytes: maxBytes },
      realtime: queue.depthByPriority().realtime,
    };
    return this.#broken(own, queue, request) ?? this.#broken(all, queue, request);
  }

  /**
   * The error for the caller, with the time after which there should be room.
   * @param startInMs when the request would start if it were queued (D-27): what goes
   *   before it has left by then
   */
  queueFull(refusal: QueueRefusal, model: string, nowMs: number, startInMs?: number): DomainError {
    const { scope, bound, limit, reserved, backlog } = refusal;
    // Room for all models does not follow from the queue of one.
    const retryAfterMs =
      scope === 'model'
        ? this.retryAfterMs(model, backlog, nowMs, startInMs)
        : this.retryAfterMs(undefined, backlog, nowMs);
    const where = scope === 'model' ? `The queue of model ${model}` : 'The queue';
    const rest = reserved > 0 ? ` for batch; ${reserved} more are reserved for realtime` : '';
    return new DomainError('queue_full', `${where} is at its bound of ${limit} ${bound}${rest}.`, {
      retryAfterMs,
    });
  }

  /**
   * `left` requests of the model were sent to a worker. Expired and cancelled ones
   * do not count.
   */
  drained(model: string, nowMs: number, left = 1): void {
    let rate = this.#rates.get(model);
    if (rate === undefined) this.#rates.set(model, (rate = new DrainRate()));
    rate.record(left, nowMs);
    this.#total.record(left, nowMs);
  }

  /**
   * Milliseconds, 1000 to 60000, with jitter. Without a model, the rate of all
   * models together counts.
   * @param waitMs as it is forecast; absent: backlog / drain rate
   */
  retryAfterMs(
    model: string | undefined,
    backlog: number,
    nowMs: number,
    waitMs = this.drainMs(model, backlog, nowMs) ?? UNKNOWN_RETRY_MS,
  ): number {
    return spreadHint(
      Math.min(Math.max(MIN_RETRY_MS, Math.ceil(waitMs)), MAX_RETRY_MS / 2),
      this.random,
    );
  }

  /**
   * Milliseconds until so many requests have left, at the recent rate. Undefined: none
   * has left so far.
   */
  drainMs(model: string | undefined, backlog: number, nowMs: number): number | undefined {
    const rate = model === undefined ? this.#total : this.#rates.get(model);
    const perSecond = rate?.perSecond(nowMs);
    return perSecond === undefined ? undefined : Math.ceil((backlog / perSecond) * 1000);
  }

  #broken(scope: Scope, queue: QueueLoad, request: AskedRequest): QueueRefusal | undefined {
    const { name, held, max, realtime } = scope;
    const isBatch = request.priority === RequestPriority.BATCH;
    for (const bound of BOUNDS) {
      // A request larger than the part for BATCH fits into an empty queue only.
      const isReserved = isBatch && (bound === 'requests' || held.requests > 0);
      const forBatch = Math.max(1, Math.floor(max[bound] * (1 - this.bounds.realtimeReserve)));
      const limit = isReserved ? forBatch : max[bound];
      const adds = bound === 'requests' ? 1 : request.bytes;
      const wanted = held[bound] + adds;
      if (wanted <= limit) continue;
      const part = { bound, adds, limit };
      if (wanted <= limit * (1 + TENANT_RESERVE) && isWithinItsPart(scope, part, queue, request))
        continue;
      const backlog = isBatch ? held.requests : realtime;
      return { scope: name, bound, limit, reserved: max[bound] - limit, backlog };
    }
    return undefined;
  }
}

const BOUNDS = ['requests', 'bytes'] as const;

/** True for a tenant that holds less than an equal part of a full queue. */
function isWithinItsPart(
  { name, held }: Scope,
  { bound, limit, adds }: Pick<QueueRefusal, 'bound' | 'limit'> & { readonly adds: number },
  queue: QueueLoad,
  { model, tenant = DEFAULT_TENANT }: AskedRequest,
): boolean {
  const own = queue.loadOf?.(tenant, name === 'model' ? model : undefined);
  if (own === undefined || own.requests === held.requests) return false;
  const tenants = Math.max(2, own.requests > 0 ? own.tenants : own.tenants + 1);
  return own[bound] + adds <= limit / tenants;
}
