import { Entry } from '../../core/order/account.js';
import { FairOrder } from '../../core/order/fair-order.js';
import { nextSentence, type Sentence } from '../../core/order/sentence-order.js';
import { WeightedLane } from '../../core/order/weighted-lane.js';
import { RequestPriority } from '../../core/request/request-priority.js';

/**
 * What decides an item's place: priority and age, then the order in which the
 * worker received it.
 */
export interface PlacedWork {
  readonly priority: RequestPriority;
  /** Number of the request, in order of arrival. */
  readonly sequence: number;
  /** Shared by the parts of one long request; absent: the item is a whole request. */
  readonly flow?: string;
  /** Of speech: its place among the REALTIME ones is not that of its arrival. */
  readonly sentence?: Sentence & { readonly isFirst: boolean };
  /**
   * Aged BATCH: its share of the turns while REALTIME waits too (D-03); absent: not aged.
   */
  readonly agingShare?: number;
}

/**
 * Later REALTIME requests that may overtake one that waits; part of the contract
 * (common.proto, `Priority`).
 */
const MOST_OVERTAKING = 64;

const equal = (): number => 1;

/**
 * The order of the device (`FairOrder`): each request is a tenant of its own, and each
 * take a new round, so the first waiting part of every request goes before any second
 * part. A long file has its share of every group, and never whole groups while others
 * wait. Requests of one part go by arrival at the worker, not by the order of entry here:
 * a short file that was decoded first does not overtake an older one.
 *
 * REALTIME speech has the order of `nextSentence` instead of that of arrival.
 *
 * A BATCH item that was overtaken by `MOST_OVERTAKING` REALTIME requests counts as REALTIME:
 * otherwise it would starve while interactive work alone overloads the device (found by
 * `npm run bench -- simulate`). So does speech that nobody hears, by its arrival.
 */
export class WorkQueue<Item extends PlacedWork> {
  readonly #order = new FairOrder<Item>({
    realtime: new WeightedLane(equal),
    batch: new WeightedLane(equal),
    agingShare: 1,
  });
  readonly #entries = new Map<Item, Entry<Item>>();
  /**
   * Waiting BATCH items in the order in which they were added; each counts as REALTIME
   * once so many REALTIME items were added in all.
   */
  readonly #overtaken = new Map<Item, number>();
  #urgent = 0;
  /** Waiting REALTIME speech by sentence. */
  readonly #spoken = new Map<Sentence, Item>();

  get size(): number {
    return this.#order.size;
  }

  /** Monotonic milliseconds decide between sentences only. */
  head(nowMs: number): Item | undefined {
    return this.#first(nowMs)?.item;
  }

  add(item: Item): void {
    const { priority, agingShare, sentence } = item;
    const isRealtime = priority === RequestPriority.REALTIME;
    const isLast = !isRealtime || (sentence && !sentence.playback);
    if (isRealtime && sentence) this.#spoken.set(sentence, item);
    this.#put(item, isRealtime);
    if (isRealtime && sentence?.isFirst !== false) this.#urgent += 1;
    if (agingShare !== undefined) this.#order.agingShare = agingShare;
    else if (isLast) this.#overtaken.set(item, this.#urgent + MOST_OVERTAKING);
    this.#promote();
  }

  /** BATCH items that were overtaken often enough count as REALTIME from now on. */
  #promote(): void {
    for (const [oldest, atUrgent] of this.#overtaken) {
      if (atUrgent > this.#urgent) break;
      this.remove(oldest);
      this.#put(oldest, true);
    }
  }

  /** False when the item is not in the queue. */
  remove(item: Item): boolean {
    const entry = this.#entries.get(item);
    if (entry === undefined) return false;
    this.#forget(item);
    return this.#order.laneOf(entry).remove(entry);
  }

  /** Removes and returns up to `count` items in their order. */
  take(count: number, nowMs: number): Item[] {
    const taken: Item[] = [];
    while (taken.length < count) {
      const entry = this.#first(nowMs);
      if (!entry) break;
      this.#order.take(entry, 0);
      this.#forget(entry.item);
      taken.push(entry.item);
    }
    this.#order.realtime.newRound();
    this.#order.batch.newRound();
    return taken;
  }

  #first(nowMs: number): Entry<Item> | undefined {
    const next = nextSentence(this.#spoken.keys(), nowMs);
    const mayGo = ({ sentence }: Item): boolean =>
      sentence === next || sentence === undefined || !this.#spoken.has(sentence);
    return this.#order.first(0, next && mayGo);
  }

  #forget(item: Item): void {
    this.#entries.delete(item);
    if (item.sentence) this.#spoken.delete(item.sentence);
    this.#overtaken.delete(item);
  }

  #put(item: Item, isRealtime: boolean): void {
    const { sequence, flow = String(sequence), agingShare } = item;
    const entry = new Entry(item, {
      isRealtime,
      tenant: flow,
      sinceMs: sequence,
      orderMs: sequence,
      agesAtMs: agingShare === undefined ? Infinity : -Infinity,
      costMs: 1,
      bytes: 0,
    });
    this.#entries.set(item, entry);
    this.#order.append(entry);
  }
}
