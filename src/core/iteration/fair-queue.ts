import { AgingTurns } from '../shared/aging-turns.js';
import { type TenantCounters } from './tenant-counters.js';
import { WaitingQueue } from './waiting-queue.js';

/** What the place in the queue depends on. */
export interface Placed {
  readonly tenant: string;
  /** See `agingKey`. */
  readonly key: number;
  /** 0: REALTIME. */
  readonly priorityClass: number;
  /** It arrived as aged, with that share; undefined: it ages here. */
  readonly agingShare: number | undefined;
}

/**
 * The class that a place counts as at `nowMs`: its own, less one for each `classWidthMs` of waiting. It falls out of
 * the static key, and so never changes the order of two requests of one tenant.
 */
export const effectiveClass = (key: number, nowMs: number, classWidthMs: number): number =>
  Math.max(0, Math.ceil((key - nowMs) / classWidthMs));

/** Share of sequences that aged here: the gateway's default (`queue.aging_share`). */
const OWN_SHARE = 0.25;

/**
 * The queue before the running set: lowest effective class first, among equals the tenant that was served least, and
 * within a tenant the oldest. No sequence waits behind a lower class, and no tenant fills the device. Sequences that
 * aged into class 0, or arrived aged, have their share of the turns beside class 0 (D-03) and no more: a large old
 * backlog does not delay class 0.
 */
export class FairQueue<S extends Placed> {
  readonly #queues = new Map<string, WaitingQueue<S>>();
  #share = OWN_SHARE;
  #turns = new AgingTurns(OWN_SHARE);

  constructor(
    private readonly counters: TenantCounters,
    private readonly classWidthMs: number,
  ) {}

  get size(): number {
    let size = 0;
    for (const queue of this.#queues.values()) size += queue.size;
    return size;
  }

  add(item: S): void {
    const queue = this.#queues.get(item.tenant) ?? new WaitingQueue<S>();
    this.#queues.set(item.tenant, queue);
    queue.add(item, item.key);
  }

  /** True when it was in the queue. */
  remove(item: S): boolean {
    const queue = this.#queues.get(item.tenant);
    if (!queue?.remove(item)) return false;
    if (queue.size === 0) this.#queues.delete(item.tenant);
    return true;
  }

  /** The first one that `accepts` takes; it stays in the queue. */
  first(nowMs: number, accepts: (item: S) => boolean): S | undefined {
    const urgent = this.#best(nowMs, item => isUrgent(item) && accepts(item));
    const aged = this.#best(nowMs, item => this.#isAged(item, nowMs) && accepts(item));
    if (urgent && aged) return this.#isAgedNext(urgent, aged) ? aged : urgent;
    return urgent ?? aged ?? this.#best(nowMs, accepts);
  }

  /**
   * It is admitted: that was its turn. Call before it leaves the queue.
   * @returns true when both class 0 and aged sequences were waiting that `accepts` takes
   */
  taken(item: S, nowMs: number, accepts: (item: S) => boolean): boolean {
    const waits = (kind: (other: S) => boolean): boolean =>
      this.#best(nowMs, other => kind(other) && (other === item || accepts(other))) !== undefined;
    const contested = waits(isUrgent) && waits(other => this.#isAged(other, nowMs));
    this.#turns.taken(this.#isAged(item, nowMs), contested);
    return contested;
  }

  #isAged(item: S, nowMs: number): boolean {
    if (isUrgent(item)) return false;
    return item.agingShare !== undefined || effectiveClass(item.key, nowMs, this.classWidthMs) === 0;
  }

  #isAgedNext(urgent: S, aged: S): boolean {
    const share = aged.agingShare ?? OWN_SHARE;
    if (share !== this.#share) this.#turns = new AgingTurns(share);
    this.#share = share;
    // With a share of 1 they are equals: the tenant served least first, then the older.
    const isBefore = this.#servedBefore(aged, urgent) < 0;
    return this.#turns.isAgedNext(0, isBefore ? -1 : 1);
  }

  #best(nowMs: number, accepts: (item: S) => boolean): S | undefined {
    let best: S | undefined;
    for (const queue of this.#queues.values()) {
      const head = queue.first(accepts);
      if (head && (best === undefined || this.#isBefore(head, best, nowMs))) best = head;
    }
    return best;
  }

  #isBefore(one: S, other: S, nowMs: number): boolean {
    const classes =
      effectiveClass(one.key, nowMs, this.classWidthMs) - effectiveClass(other.key, nowMs, this.classWidthMs);
    return classes !== 0 ? classes < 0 : this.#servedBefore(one, other) < 0;
  }

  #servedBefore(one: S, other: S): number {
    return this.counters.served(one.tenant) - this.counters.served(other.tenant) || one.key - other.key;
  }
}

const isUrgent = ({ priorityClass }: Placed): boolean => priorityClass === 0;
