import { type Account, type Entry, type WeightOf } from './account.js';
import { type Accepts, best, type Contender, nextOf } from './contenders.js';
import { KeyedHeap } from './keyed-heap.js';

/** The order in which the entries of a lane leave if none comes, ages or is corrected. */
export class LanePreview<T> {
  /** Each account is read from its first entry on, and left as it is. */
  readonly #cursors = new Map<Account<T> | undefined, Contender<T>>();
  readonly #turns = new KeyedHeap<Contender<T>>();

  /** @param aged number of entries that are aged at `nowMs` */
  constructor(
    accounts: readonly Account<T>[],
    private readonly weightOf: WeightOf,
    private readonly nowMs: number,
    private aged: number,
  ) {
    for (const account of accounts) {
      const cursor = { heapIndex: -1, startTag: account.startTag, first: account.first };
      this.#cursors.set(account, cursor);
      this.#put(cursor);
    }
  }

  get hasAged(): boolean {
    return this.aged > 0;
  }

  next(agedOnly: boolean): Entry<T> | undefined {
    return nextOf(this.#turns, agedOnly ? this.nowMs : Infinity);
  }

  nextBeside(excluded: Accepts<T>, agedOnly: boolean): Entry<T> | undefined {
    return best(this.#turns, agedOnly ? this.nowMs : Infinity, undefined, excluded);
  }

  take(entry: Entry<T>): void {
    const cursor = this.#cursors.get(entry.account)!;
    if (entry.place.agesAtMs <= this.nowMs) this.aged -= 1;
    cursor.startTag += entry.place.costMs / this.weightOf(entry.place.tenant);
    cursor.first = entry.turn.after;
    this.#put(cursor);
  }

  #put(cursor: Contender<T>): void {
    if (cursor.first === undefined) this.#turns.remove(cursor);
    else this.#turns.put(cursor, cursor.startTag, cursor.first.of.place.sinceMs);
  }
}
