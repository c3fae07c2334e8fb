import { type HeapItem } from './keyed-heap.js';
import { type Link, SortedList } from './sorted-list.js';

/** What decides the place of an entry. Times are monotonic milliseconds, or positions. */
interface Place {
  readonly isRealtime: boolean;
  /** Whose work it is. */
  readonly tenant: string;
  /**
   * Its arrival: of tenants with equal claims, the one whose next entry is
   * older goes first.
   */
  readonly sinceMs: number;
  /** Order within a tenant: the smallest goes first. */
  readonly orderMs: number;
  /** Time in milliseconds from which on it is aged. */
  readonly agesAtMs: number;
  /** Work that its tenant is charged when it is taken, above 0. */
  readonly costMs: number;
  readonly bytes: number;
}

/** An item in a lane. */
export class Entry<T> implements HeapItem {
  /** Index in a heap of the entry's owner; -1: it is in none. */
  heapIndex = -1;
  /** Account of its tenant while it waits; undefined: it does not wait. */
  account: Account<T> | undefined;
  #isReported = false;
  readonly turn: Link<Entry<T>>;
  readonly age: Link<Entry<T>>;

  constructor(
    readonly item: T,
    readonly place: Place,
  ) {
    this.turn = { of: this, key: place.orderMs, before: undefined, after: undefined };
    this.age = { of: this, key: place.agesAtMs, before: undefined, after: undefined };
  }

  joined(account: Account<T>): void {
    this.account = account;
  }

  left(): void {
    this.account = undefined;
  }

  /** Notes that it was reported as aged. @returns true the first time only */
  report(): boolean {
    const isNew = !this.#isReported;
    this.#isReported = true;
    return isNew;
  }
}

/**
 * Relative share of a tenant, above 0. Asked when it is charged, so that a change takes
 * effect at once.
 */
export type WeightOf = (tenant: string) => number;

/** The entries of one tenant in their order, and how far it has come. */
export class Account<T> extends SortedList<Entry<T>> implements HeapItem {
  heapIndex = -1;
  /** Virtual time at which its first entry starts: work per unit of weight. */
  startTag = 0;
  size = 0;
  bytes = 0;
  /** Estimated device milliseconds of the entries that wait. */
  costMs = 0;

  constructor(readonly tenant: string) {
    super();
  }

  startAt(tag: number): void {
    this.startTag = tag;
  }

  /** It does not start before this virtual time. */
  notBefore(tag: number): void {
    this.startTag = Math.max(this.startTag, tag);
  }

  /** Charges the tenant. @param work cost divided by the tenant's weight */
  served(work: number): void {
    this.startTag += work;
  }

  count(sign: 1 | -1, { costMs, bytes }: Place): void {
    this.size += sign;
    this.bytes += sign * bytes;
    // Sums of fractions drift.
    this.costMs = this.size === 0 ? 0 : this.costMs + sign * costMs;
  }
}
