import { type RequestPriority } from '../../core/request/request-priority.js';

/** What gives an entry its place: priority, then the order in which the worker received it. */
export interface Placed {
  readonly priority: RequestPriority;
  /** Rises by one with every request received. */
  readonly sequence: number;
}

/**
 * REALTIME first, then arrival, whatever the order of entering: a short file that was decoded first does not overtake an
 * older one. Holds at most the worker's slots (tens), so a sorted array beats anything cleverer.
 */
export class PriorityLine<Entry extends Placed> {
  readonly #entries: Entry[] = [];

  get size(): number {
    return this.#entries.length;
  }

  get head(): Entry | undefined {
    return this.#entries[0];
  }

  add(entry: Entry): void {
    let place = this.#entries.length;
    while (place > 0 && goesBefore(entry, this.#entries[place - 1]!)) place -= 1;
    this.#entries.splice(place, 0, entry);
  }

  /** False when the entry is not (or no longer) in the line. */
  remove(entry: Entry): boolean {
    const place = this.#entries.indexOf(entry);
    if (place < 0) return false;
    this.#entries.splice(place, 1);
    return true;
  }

  /** Removes and returns up to `count` entries from the front. */
  take(count: number): Entry[] {
    return this.#entries.splice(0, count);
  }
}

const goesBefore = (one: Placed, other: Placed): boolean =>
  one.priority === other.priority ? one.sequence < other.sequence : one.priority < other.priority;
