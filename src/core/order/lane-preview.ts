import { type Account, type Entry, type WeightOf } from './account.js';
import { type HeapItem, KeyedHeap } from './keyed-heap.js';
import { type Link } from './sorted-list.js';

/** Which items may go now. */
export type Accepts<T> = (item: T) => boolean;

/** A tenant that competes for the next turn with its first entry. */
interface Contender<T> extends HeapItem {
  startTag: number;
  first: Link<Entry<T>> | undefined;
}

/**
 * The next entry of the tenant with the smallest start tag; of equal tags the older one.
 * Without conditions O(1).
 * @param agedAtMs only of tenants whose next one is aged then; without `accepts`, of any
 *   tenant if there is none.
 *   Infinity: of all
 */
export function nextOf<T>(
  contenders: KeyedHeap<Contender<T>>,
  agedAtMs = Infinity,
  accepts?: Accepts<T>,
): Entry<T> | undefined {
  const top = contenders.items[0]?.first?.of;
  if (accepts !== undefined) return best(contenders, agedAtMs, accepts);
  if (top === undefined || top.place.agesAtMs <= agedAtMs) return top;
  return best(contenders, agedAtMs) ?? top;
}

function best<T>(
  { items }: KeyedHeap<Contender<T>>,
  agedAtMs: number,
  accepts?: Accepts<T>,
): Entry<T> | undefined {
  let found: Entry<T> | undefined;
  let foundTag = Infinity;
  for (const contender of items) {
    const next = firstOf(contender, accepts);
    if (next === undefined || next.place.agesAtMs > agedAtMs) continue;
    if (contender.startTag > foundTag) continue;
    if (contender.startTag === foundTag && found!.place.sinceMs <= next.place.sinceMs)
      continue;
    found = next;
    foundTag = contender.startTag;
  }
  return found;
}

/** Of one tenant. */
export function firstOf<T>(
  { first }: Contender<T>,
  accepts?: Accepts<T>,
): Entry<T> | undefined {
  let link = first;
  while (link !== undefined && accepts !== undefined && !accepts(link.of.item))
    link = link.after;
  return link?.of;
}

/** The order in which the entries of a lane leave if none comes, ages or is corrected. */
export class LanePreview<T> {
  /** Each account is read from its first entry on, and left as it is. */
  readonly #cursors = new Map<Account<T> | undefined, Contender<T>>();
  readonly #turns = new KeyedHeap<Contender<T>>();
  #aged: number;

  constructor(
    accounts: readonly Account<T>[],
    private readonly rules: {
      readonly weightOf: WeightOf;
      readonly nowMs: number;
      /** Entries that are aged. */
      readonly aged: number;
    },
  ) {
    this.#aged = rules.aged;
    for (const account of accounts) {
      const cursor = { heapIndex: -1, startTag: account.startTag, first: account.first };
      this.#cursors.set(account, cursor);
      this.#put(cursor);
    }
  }

  get hasAged(): boolean {
    return this.#aged > 0;
  }

  next(agedOnly: boolean): Entry<T> | undefined {
    return nextOf(this.#turns, agedOnly ? this.rules.nowMs : undefined);
  }

  take(entry: Entry<T>): void {
    const { weightOf, nowMs } = this.rules;
    const cursor = this.#cursors.get(entry.account)!;
    if (entry.place.agesAtMs <= nowMs) this.#aged -= 1;
    cursor.startTag += entry.place.costMs / weightOf(entry.place.tenant);
    cursor.first = entry.turn.after;
    this.#put(cursor);
  }

  #put(cursor: Contender<T>): void {
    if (cursor.first === undefined) this.#turns.remove(cursor);
    else this.#turns.put(cursor, cursor.startTag, cursor.first.of.place.sinceMs);
  }
}
