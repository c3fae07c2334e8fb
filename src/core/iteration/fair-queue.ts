import { AgingTurns } from '../shared/aging-turns.js';
import { type TenantCounters } from './tenant-counters.js';
import { WaitingQueue } from './waiting-queue.js';

/** What the place in the line depends on. */
export interface Placed {
  readonly tenant: string;
  /** See `agingKey`. */
  readonly key: number;
  /** 0: REALTIME. */
  readonly priorityClass: number;
  /** It came as aged, with that share; undefined: it ages here. */
  readonly agingShare: number | undefined;
}

/**
 * The class that a place counts as at `nowMs`: its own, less one for each `classWidthMs` of waiting. It falls out of the static
 * key, and so never changes the order of two requests of one tenant.
 */
export const effectiveClass = (key: number, nowMs: number, classWidthMs: number): number =>
  Math.max(0, Math.ceil((key - nowMs) / classWidthMs));

/** Of what aged in this line: the gateway's own default (`queue.aging_share`). */
const OWN_SHARE = 0.25;

/**
 * The line before the running set: effective class first, among equals the tenant that was served least, and within a tenant
 * by age. So nobody waits behind a lower class, and no tenant fills the device. Nobody waits in a lower class for ever either:
 * who has aged into class 0, or came aged, has its share of the turns beside those of class 0 (D-03), and no more: a backlog
 * that is old from end to end does not hold them up.
 */
export class FairQueue<S extends Placed> {
  readonly #lines = new Map<string, WaitingQueue<S>>();
  readonly #counters: TenantCounters;
  readonly #classWidthMs: number;
  #share = OWN_SHARE;
  #turns = new AgingTurns(OWN_SHARE);

  constructor(counters: TenantCounters, classWidthMs: number) {
    this.#counters = counters;
    this.#classWidthMs = classWidthMs;
  }

  get size(): number {
    let size = 0;
    for (const line of this.#lines.values()) size += line.size;
    return size;
  }

  add(item: S): void {
    const line = this.#lines.get(item.tenant) ?? new WaitingQueue<S>();
    this.#lines.set(item.tenant, line);
    line.add(item, item.key);
  }

  /** True when it was in the line. */
  remove(item: S): boolean {
    const line = this.#lines.get(item.tenant);
    if (!line?.remove(item)) return false;
    if (line.size === 0) this.#lines.delete(item.tenant);
    return true;
  }

  /** The first one that `accepts` takes; it stays in the line. */
  first(nowMs: number, accepts: (item: S) => boolean): S | undefined {
    const urgent = this.#best(nowMs, item => isUrgent(item) && accepts(item));
    const aged = this.#best(nowMs, item => this.#isAged(item, nowMs) && accepts(item));
    if (urgent && aged) return this.#isAgedNext(urgent, aged) ? aged : urgent;
    return urgent ?? aged ?? this.#best(nowMs, accepts);
  }

  /**
   * It is let in: that was its turn. Asked before it leaves the line.
   * @returns true: both REALTIME and aged ones waited that `accepts` takes
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
    return item.agingShare !== undefined || effectiveClass(item.key, nowMs, this.#classWidthMs) === 0;
  }

  #isAgedNext(urgent: S, aged: S): boolean {
    const share = aged.agingShare ?? OWN_SHARE;
    if (share !== this.#share) this.#turns = new AgingTurns(share);
    this.#share = share;
    // With a share of 1 it is as among equals: who was served least, then who is older.
    const isBefore = this.#servedBefore(aged, urgent) < 0;
    return this.#turns.isAgedNext(0, isBefore ? -1 : 1);
  }

  #best(nowMs: number, accepts: (item: S) => boolean): S | undefined {
    let best: S | undefined;
    for (const line of this.#lines.values()) {
      const head = line.first(accepts);
      if (head && (best === undefined || this.#isBefore(head, best, nowMs))) best = head;
    }
    return best;
  }

  #isBefore(one: S, other: S, nowMs: number): boolean {
    const classes =
      effectiveClass(one.key, nowMs, this.#classWidthMs) - effectiveClass(other.key, nowMs, this.#classWidthMs);
    return classes !== 0 ? classes < 0 : this.#servedBefore(one, other) < 0;
  }

  #servedBefore(one: S, other: S): number {
    return this.#counters.served(one.tenant) - this.#counters.served(other.tenant) || one.key - other.key;
  }
}

const isUrgent = ({ priorityClass }: Placed): boolean => priorityClass === 0;
