import { RequestPriority } from '../request/request-priority.js';
import { type Entry } from './account.js';
import { AgingTurns } from './aging-turns.js';
import { type Accepts } from './contenders.js';
import { type WeightedLane } from './weighted-lane.js';

/**
 * The order of waiting work, wherever it waits: REALTIME first; of the other lane, aged
 * entries have their share of the turns beside REALTIME (D-03). In a lane tenants share
 * by work (D-25), and each has its own order.
 */
export class FairOrder<T, L extends WeightedLane<T> = WeightedLane<T>> {
  readonly realtime: L;
  readonly batch: L;
  /** Decides between the two lanes while both may go. */
  turns: AgingTurns;
  #agingShare: number;

  constructor({
    realtime,
    batch,
    agingShare,
    agingCredit,
  }: {
    readonly realtime: L;
    readonly batch: L;
    /**
     * Share of the turns that aged entries get while REALTIME waits as well: above 0,
     * 1 at most.
     */
    readonly agingShare: number;
    /** Credit of the aged turns, where this order continues another one. */
    readonly agingCredit?: number;
  }) {
    this.realtime = realtime;
    this.batch = batch;
    this.#agingShare = agingShare;
    this.turns = new AgingTurns(agingShare, agingCredit);
  }

  /** Share of aged entries in the turns from now on. */
  set agingShare(share: number) {
    if (share !== this.#agingShare) this.turns = new AgingTurns(share);
    this.#agingShare = share;
  }

  get size(): number {
    return this.realtime.size + this.batch.size;
  }

  of(priority: RequestPriority): L {
    return priority === RequestPriority.REALTIME ? this.realtime : this.batch;
  }

  laneOf({ place }: Entry<T>): L {
    return place.isRealtime ? this.realtime : this.batch;
  }

  /** Adds an entry to its lane, after entries with the same order. */
  append(entry: Entry<T>): void {
    this.laneOf(entry).append(entry);
  }

  /** True while a REALTIME and an aged entry wait: turns decide between them. */
  isContested(nowMs: number): boolean {
    return this.realtime.size > 0 && this.batch.hasAged(nowMs);
  }

  /** The lane that has the next turn, while turns decide (`isContested`). */
  get inTurn(): L {
    return this.#isAgedNext(this.realtime.next(), this.batch.next(true))
      ? this.batch
      : this.realtime;
  }

  /**
   * The entry of a lane that goes next. Beside waiting REALTIME, the other lane has only
   * turns for aged entries.
   * @param yields other tenants of the lane go before such an entry
   */
  nextOf(lane: WeightedLane<T>, yields?: Accepts<T>): Entry<T> | undefined {
    return nextOf(lane, lane !== this.realtime && this.realtime.size > 0, yields);
  }

  /** The entry that goes next of those that `accepts` takes, absent: of all; it stays. */
  first(nowMs: number, accepts?: Accepts<T>): Entry<T> | undefined {
    const urgent = this.realtime.next(false, accepts);
    if (urgent === undefined) return this.batch.next(false, accepts);
    const aged = this.batch.hasAged(nowMs) ? this.batch.next(true, accepts) : undefined;
    return aged !== undefined && this.#isAgedNext(urgent, aged) ? aged : urgent;
  }

  /**
   * Takes an entry, which had the turn: its tenant is charged.
   * @returns true when both REALTIME and aged entries waited that `accepts` takes
   */
  take(entry: Entry<T>, nowMs: number, accepts?: Accepts<T>): boolean {
    const lane = this.laneOf(entry);
    const mayGo = accepts && ((item: T): boolean => item === entry.item || accepts(item));
    const contested =
      this.isContested(nowMs) &&
      this.realtime.next(false, mayGo) !== undefined &&
      this.batch.next(true, mayGo) !== undefined;
    this.turns.taken(lane !== this.realtime, contested);
    lane.take(entry);
    return contested;
  }

  /** Goes on from where `other` is, with its accounts and turns. Has the same entries. */
  resume(other: FairOrder<unknown>): void {
    this.realtime.resume(other.realtime);
    this.batch.resume(other.batch);
    this.turns = other.turns.copy();
  }

  /** All entries in their order, if none comes or ages. @param yields as for `nextOf` */
  *inOrder(nowMs: number, yields?: Accepts<T>): Generator<Entry<T>> {
    const turns = this.turns.copy();
    const realtime = this.realtime.preview(nowMs);
    const batch = this.batch.preview(nowMs);
    for (;;) {
      const urgent = realtime.next(false);
      const contested = urgent !== undefined && batch.hasAged;
      const other = batch.next(contested);
      const isOthers = contested
        ? turns.isAgedNext(sinceMs(urgent), sinceMs(other))
        : urgent === undefined;
      const lane = isOthers ? batch : realtime;
      const entry = nextOf(lane, isOthers && contested, yields);
      if (entry === undefined) return;
      turns.taken(isOthers, contested);
      lane.take(entry);
      yield entry;
    }
  }

  #isAgedNext(urgent: Entry<T> | undefined, aged: Entry<T> | undefined): boolean {
    return this.turns.isAgedNext(sinceMs(urgent), sinceMs(aged));
  }
}

function nextOf<T>(
  lane: Pick<WeightedLane<T>, 'next' | 'nextBeside'>,
  agedOnly: boolean,
  yields?: Accepts<T>,
): Entry<T> | undefined {
  const next = lane.next(agedOnly);
  if (!next || !yields?.(next.item)) return next;
  return lane.nextBeside(yields, agedOnly) ?? next;
}

const sinceMs = (entry: Entry<unknown> | undefined): number => entry?.place.sinceMs ?? Infinity;
