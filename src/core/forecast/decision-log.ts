import { type EventOf } from '../dispatch/dispatch-event.js';
import { DEFAULT_TENANT } from '../request/request-key.js';
import { priorityLevel, RequestPriority } from '../request/request-priority.js';

interface OrderedRequest {
  readonly tenant?: string;
  readonly priority: RequestPriority;
  readonly enqueuedAtMs: number;
}

/** Requests that go before one, as numbers: other tenants are counted and not named. */
export interface AheadCounts {
  readonly requests: number;
  /** How many of them are of the same tenant. */
  readonly own: number;
  /** Number of other tenants that have some of them. */
  readonly otherTenants: number;
  /**
   * Why a request goes before another one. `priority`: REALTIME before BATCH. `age`: it
   * came earlier, or it is aged BATCH in its turn (D-03). `fairness`: it came later, and
   * its tenant had less device time (D-25). Windows and limits put no request before
   * another: a window holds back a whole lane, and limits refuse before the queue.
   */
  readonly by: Readonly<Record<'priority' | 'age' | 'fairness', number>>;
}

function reasonOf(other: OrderedRequest, mine: OrderedRequest): keyof AheadCounts['by'] {
  if (other.priority !== mine.priority)
    return other.priority === RequestPriority.REALTIME ? 'priority' : 'age';
  return other.enqueuedAtMs > mine.enqueuedAtMs ? 'fairness' : 'age';
}

export function countAhead(ahead: Iterable<OrderedRequest>, mine: OrderedRequest): AheadCounts {
  const by = { priority: 0, age: 0, fairness: 0 };
  const others = new Set<string>();
  let [requests, own] = [0, 0];
  for (const request of ahead) {
    const { tenant = DEFAULT_TENANT } = request;
    requests += 1;
    by[reasonOf(request, mine)] += 1;
    if (tenant === (mine.tenant ?? DEFAULT_TENANT)) own += 1;
    else others.add(tenant);
  }
  return { requests, own, otherTenants: others.size, by };
}

interface Decision extends OrderedRequest {
  readonly key: string;
  readonly atMs: number;
}

/** Decisions that are kept of one model. */
const KEPT = 2000;

/** The last requests of one model that were given to workers, in this order (D-23). */
export class DecisionLog {
  readonly #decisions: Decision[] = [];

  add({ key, tenant, priority, atMs, queueWaitMs }: EventOf<'leased'>): void {
    const enqueuedAtMs = atMs - queueWaitMs;
    const level = priorityLevel(priority);
    this.#decisions.push({ key, tenant, priority: level, enqueuedAtMs, atMs });
    if (this.#decisions.length > KEPT) this.#decisions.shift();
  }

  of(key: string): OrderedRequest | undefined {
    return this.#decisions.find(decision => decision.key === key);
  }

  /** Those that were made while a request waited; of a long wait only the last. */
  during(fromMs: number, key: string): readonly Decision[] {
    const own = this.#decisions.findLastIndex(decision => decision.key === key);
    const before = own < 0 ? this.#decisions : this.#decisions.slice(0, own);
    return before.filter(({ atMs }) => atMs > fromMs);
  }
}
