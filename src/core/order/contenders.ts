import { type Entry } from './account.js';
import { type HeapItem, type KeyedHeap } from './keyed-heap.js';
import { type Link } from './sorted-list.js';

/** Which items may go now. */
export type Accepts<T> = (item: T) => boolean;

/** A tenant that competes for the next turn with its first entry. */
export interface Contender<T> extends HeapItem {
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
  agedAtMs: number,
  accepts?: Accepts<T>,
): Entry<T> | undefined {
  const top = contenders.items[0]?.first?.of;
  if (accepts !== undefined) return best(contenders, agedAtMs, accepts);
  if (top === undefined || top.place.agesAtMs <= agedAtMs) return top;
  return best(contenders, agedAtMs) ?? top;
}

export function best<T>(
  { items }: KeyedHeap<Contender<T>>,
  agedAtMs: number,
  accepts?: Accepts<T>,
  excluded?: Accepts<T>,
): Entry<T> | undefined {
  let found: Entry<T> | undefined;
  let foundTag = Infinity;
  for (const contender of items) {
    if (contender.startTag > foundTag) continue;
    const next = firstOf(contender, accepts);
    if (next === undefined || next.place.agesAtMs > agedAtMs) continue;
    if (excluded?.(next.item)) continue;
    if (contender.startTag === foundTag && found!.place.sinceMs <= next.place.sinceMs) continue;
    found = next;
    foundTag = contender.startTag;
  }
  return found;
}

/** The first entry of a tenant that may go; undefined: none may. */
export function firstOf<T>({ first }: Contender<T>, accepts?: Accepts<T>): Entry<T> | undefined {
  let link = first;
  while (link !== undefined && accepts !== undefined && !accepts(link.of.item)) link = link.after;
  return link?.of;
}
