import { DEFAULT_TENANT } from '../request/request-key.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';
import { TenantOrder } from './tenant-order.js';
import { costOf, TenantQueue, type WaitingRequest } from './tenant-queue.js';

export const MAX_TENANT_WEIGHT = 1000;

/** Relative share of a tenant, above 0. */
export type WeightOf = (tenant: string) => number;

/** Accounts of tenants without waiting requests that a lane keeps at most. */
const MAX_IDLE = 1000;

export const ownerOf = ({ tenant = DEFAULT_TENANT }: Pick<ScheduledRequest, 'tenant'>): string => tenant;

/**
 * Divides the turns of a lane among its tenants by work (D-25): start-time fair queueing. The tenant with the smallest
 * start tag is next; its tag then grows by cost / weight. The tag of a tenant that returns is at least the virtual
 * time, which is the largest start tag served: idle time is not saved up.
 */
export class TenantShares<P> {
  readonly #queues = new Map<string, TenantQueue<P>>();
  /** Kept up to date only while two tenants or more have waiting requests: one needs no order. */
  readonly #order = new TenantOrder<TenantQueue<P>>();
  #waiting = 0;
  /** The only tenant with waiting requests. */
  #sole: TenantQueue<P> | undefined;
  /** Of the last request that came: mostly the next one's too. */
  #recent: TenantQueue<P> | undefined;
  #virtualTime = 0;
  #idle = 0;

  constructor(private readonly weightOf: WeightOf) {}

  /** Tenants with waiting requests. */
  get tenants(): number {
    return this.#waiting;
  }

  /** Accounts in memory. */
  get accounts(): number {
    return this.#queues.size;
  }

  get hasAged(): boolean {
    return this.#sole === undefined ? this.#order.hasAged : this.#sole.first?.aged === true;
  }

  of(tenant: string): TenantQueue<P> | undefined {
    return this.#queues.get(tenant);
  }

  /** The largest start tag served. */
  get virtualTime(): number {
    return this.#virtualTime;
  }

  /** Where a request of that tenant and order starts if it comes now: behind what the tenant has waiting before it. */
  startTagOf(tenant: string, orderMs: number): number {
    const queue = this.#queues.get(tenant);
    if (queue === undefined || queue.size === 0) return Math.max(queue?.startTag ?? 0, this.#virtualTime);
    return queue.startTag + queue.workBeforeMs(orderMs) / this.weightOf(tenant);
  }

  /** Continues with the accounts of another one. */
  resume(other: TenantShares<unknown>): void {
    this.#virtualTime = other.#virtualTime;
    for (const [tenant, { startTag }] of other.#queues) {
      const queue = this.#accountOf(tenant);
      queue.startTag = startTag;
      if (queue.size > 0) this.#changed(queue);
    }
  }

  next(agedOnly: boolean): WaitingRequest<P> | undefined {
    return (this.#sole ?? this.#order.next(agedOnly))?.first;
  }

  /** Tenants with waiting requests, unordered. */
  *waiting(): Generator<TenantQueue<P>> {
    for (const queue of this.#queues.values()) if (queue.size > 0) yield queue;
  }

  append(node: WaitingRequest<P>): void {
    const queue = this.#opened(node);
    queue.append(node);
    if (queue.first === node) this.#changed(queue);
  }

  /** Its charge is returned: it was not computed. */
  restore(node: WaitingRequest<P>): void {
    const tenant = ownerOf(node.request);
    this.correct(tenant, -costOf(node.request));
    const queue = this.#opened(node);
    queue.restore(node);
    if (queue.first === node) this.#changed(queue);
  }

  /** It leaves without having been sent: its tenant keeps its place. */
  remove(node: WaitingRequest<P>): void {
    const { queue } = node;
    if (queue === undefined) return;
    const wasFirst = queue.first === node;
    queue.remove(node);
    if (queue.size === 0) this.#closed(queue);
    else if (wasFirst) this.#changed(queue);
  }

  /** It is sent: its tenant is charged. Call before `remove`. */
  charge(node: WaitingRequest<P>): void {
    const { queue } = node;
    if (queue === undefined) return;
    this.#virtualTime = Math.max(this.#virtualTime, queue.startTag);
    queue.startTag += costOf(node.request) / this.weightOf(queue.tenant);
  }

  /** Some of its work turned out larger by `ms` than charged; smaller if negative. */
  correct(tenant: string, ms: number): void {
    // Unknown: forgotten, or it came from elsewhere. Only what it owes counts.
    if (ms <= 0 && !this.#queues.has(tenant)) return;
    const queue = this.#accountOf(tenant);
    const fromTag = queue.size > 0 ? queue.startTag : Math.max(queue.startTag, this.#virtualTime);
    queue.startTag = fromTag + ms / this.weightOf(tenant);
    if (queue.size > 0) this.#changed(queue);
    else this.#forget();
  }

  /** The age of a request was noticed. */
  aged(node: WaitingRequest<P>): void {
    if (node.queue?.first === node) this.#changed(node.queue);
  }

  /** The queue of a request that comes, which counts as waiting from now on. */
  #opened({ request }: WaitingRequest<P>): TenantQueue<P> {
    const queue = this.#accountOf(ownerOf(request));
    if (queue.size > 0) return queue;
    queue.startTag = Math.max(queue.startTag, this.#virtualTime);
    this.#idle -= 1;
    this.#waiting += 1;
    if (this.#waiting === 1) this.#sole = queue;
    else if (this.#sole !== undefined) {
      this.#order.put(this.#sole, this.#sole.first?.aged === true);
      this.#sole = undefined;
    }
    return queue;
  }

  #closed(queue: TenantQueue<P>): void {
    this.#order.put(queue, false);
    this.#waiting -= 1;
    this.#sole = this.#waiting === 1 ? this.#order.next(false) : undefined;
    this.#idle += 1;
    this.#forget();
  }

  #changed(queue: TenantQueue<P>): void {
    if (this.#sole === undefined) this.#order.put(queue, queue.first?.aged === true);
  }

  #accountOf(tenant: string): TenantQueue<P> {
    if (this.#recent?.tenant === tenant) return this.#recent;
    let queue = this.#queues.get(tenant);
    if (queue === undefined) {
      this.#queues.set(tenant, (queue = new TenantQueue<P>(tenant)));
      this.#idle += 1;
    }
    return (this.#recent = queue);
  }

  /** An account behind the virtual time says nothing; of the others, the oldest are forgotten when there are many. */
  #forget(): void {
    if (this.#idle <= MAX_IDLE) return;
    for (const [tenant, { size, startTag }] of this.#queues) {
      if (size > 0 || (startTag > this.#virtualTime && this.#idle <= MAX_IDLE / 2)) continue;
      this.#queues.delete(tenant);
      this.#idle -= 1;
    }
    this.#recent = undefined;
  }
}
