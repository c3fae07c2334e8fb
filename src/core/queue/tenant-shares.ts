import { DEFAULT_TENANT } from '../request/request-key.js';
import { type ScheduledRequest } from '../request/scheduled-request.js';
import { TenantOrder } from './tenant-order.js';
import { TenantQueue, type WaitingRequest } from './tenant-queue.js';

/** Relative share of a tenant, above 0. */
export type WeightOf = (tenant: string) => number;

/** Accounts of tenants without waiting requests that a lane keeps at most. */
const MAX_IDLE = 1000;

/** What a request is charged when it is sent, in device milliseconds; corrected when its time is known. */
export const costOf = ({ costMs = 1 }: Pick<ScheduledRequest, 'costMs'>): number => costMs;

export const ownerOf = ({ tenant = DEFAULT_TENANT }: Pick<ScheduledRequest, 'tenant'>): string => tenant;

/**
 * Divides the turns of a lane among its tenants by work (D-25): start-time fair queueing. The tenant with the smallest
 * start tag is next; its tag then grows by cost / weight. The tag of a tenant that returns is at least the virtual
 * time, which is the largest start tag served: idle time is not saved up.
 */
export class TenantShares<P> {
  readonly #queues = new Map<string, TenantQueue<P>>();
  readonly #order = new TenantOrder<TenantQueue<P>>();
  #virtualTime = 0;
  #idle = 0;

  constructor(private readonly weightOf: WeightOf) {}

  /** Tenants with waiting requests. */
  get tenants(): number {
    return this.#order.size;
  }

  /** Accounts in memory. */
  get accounts(): number {
    return this.#queues.size;
  }

  get hasAged(): boolean {
    return this.#order.hasAged;
  }

  of(tenant: string): TenantQueue<P> | undefined {
    return this.#queues.get(tenant);
  }

  next(agedOnly: boolean): WaitingRequest<P> | undefined {
    return this.#order.next(agedOnly)?.first;
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
    if (wasFirst) this.#changed(queue);
    if (queue.size === 0) this.#closed();
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
    const queue = this.#queues.get(tenant) ?? (ms > 0 ? this.#idleAccount(tenant) : undefined);
    if (queue === undefined) return;
    queue.startTag += ms / this.weightOf(tenant);
    if (queue.size > 0) this.#changed(queue);
  }

  /** The age of a request was noticed. */
  aged(node: WaitingRequest<P>): void {
    if (node.queue?.first === node) this.#changed(node.queue);
  }

  #opened({ request }: WaitingRequest<P>): TenantQueue<P> {
    const tenant = ownerOf(request);
    let queue = this.#queues.get(tenant);
    if (queue === undefined) this.#queues.set(tenant, (queue = new TenantQueue<P>(tenant)));
    else if (queue.size === 0) this.#idle -= 1;
    if (queue.size === 0) queue.startTag = Math.max(queue.startTag, this.#virtualTime);
    return queue;
  }

  #changed(queue: TenantQueue<P>): void {
    this.#order.put(queue, queue.first?.aged ?? false);
  }

  #idleAccount(tenant: string): TenantQueue<P> {
    const queue = new TenantQueue<P>(tenant);
    queue.startTag = this.#virtualTime;
    this.#queues.set(tenant, queue);
    this.#closed();
    return queue;
  }

  /** An account behind the virtual time says nothing; of the others, the oldest are forgotten when there are many. */
  #closed(): void {
    this.#idle += 1;
    if (this.#idle <= MAX_IDLE) return;
    for (const [tenant, { size, startTag }] of this.#queues) {
      if (size > 0 || (startTag > this.#virtualTime && this.#idle <= MAX_IDLE / 2)) continue;
      this.#queues.delete(tenant);
      this.#idle -= 1;
    }
  }
}
