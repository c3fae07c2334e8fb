import { RequestPriority } from '../../core/request/request-priority.js';

/** What gives an entry its place: priority, then the order in which the worker received it. */
export interface Placed {
  readonly priority: RequestPriority;
  /** Rises by one with every request received. */
  readonly sequence: number;
  /** Parts of one long request share it; absent: the entry is a request of its own. */
  readonly flow?: string;
}

/** REALTIME requests that may come later than a BATCH one and go first. */
export const MOST_OVERTAKING = 64;

/**
 * REALTIME first, then request by request in turns, each time by arrival: the first waiting part of every request goes before
 * anybody's second. A long file therefore has its part of every group and never all of them while others wait. A request of one part
 * waits for its turn among arrivals, whatever the order of entering: a short file that was decoded first does not overtake an
 * older one. A BATCH entry that `MOST_OVERTAKING` REALTIME ones have passed counts as REALTIME: while interactive work alone is more than
 * the device can do, what was sent here before would else wait for ever (found by `npm run bench -- simulate`). Holds at most the worker's slots (tens), so a sorted array beats anything cleverer.
 */
export class PriorityLine<Entry extends Placed> {
  readonly #entries: Entry[] = [];
  /** For BATCH entries: how many REALTIME ones had come before. */
  readonly #urgentBefore = new WeakMap<Entry, number>();
  #urgent = 0;

  get size(): number {
    return this.#entries.length;
  }

  get head(): Entry | undefined {
    return this.#entries[0];
  }

  add(entry: Entry): void {
    if (entry.priority === RequestPriority.REALTIME) this.#urgent += 1;
    else this.#urgentBefore.set(entry, this.#urgent);
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

  /**
   * Removes and returns up to `count` entries: those whose turn it is.
   * @param admits asked in their order, with how many go before it; who is refused keeps its place
   */
  take(count: number, admits: (entry: Entry, before: number) => boolean = () => true): Entry[] {
    const taken = this.#turn(count, admits);
    for (const entry of taken) this.remove(entry);
    return taken;
  }

  #turn(count: number, admits: (entry: Entry, before: number) => boolean): Entry[] {
    const turn: Entry[] = [];
    for (const entry of this.#inOrder()) {
      if (turn.length === count) break;
      if (admits(entry, turn.length)) turn.push(entry);
    }
    return turn;
  }

  #inOrder(): readonly Entry[] {
    if (this.#entries.every(entry => entry.flow === undefined && this.#classOf(entry) === entry.priority))
      return this.#entries;
    return this.#inTurns();
  }

  /** All entries in the order of their turns. */
  #inTurns(): Entry[] {
    const rounds = new Map<string, number>();
    const turns = this.#entries.map(entry => ({
      entry,
      level: this.#classOf(entry),
      round: entry.flow === undefined ? 0 : nextRound(rounds, entry),
    }));
    turns.sort(
      (one, other) => one.level - other.level || one.round - other.round || one.entry.sequence - other.entry.sequence,
    );
    return turns.map(({ entry }) => entry);
  }

  #classOf(entry: Entry): RequestPriority {
    const overtaking = this.#urgent - (this.#urgentBefore.get(entry) ?? this.#urgent);
    return overtaking >= MOST_OVERTAKING ? RequestPriority.REALTIME : entry.priority;
  }
}

function nextRound(rounds: Map<string, number>, { flow = '', priority }: Placed): number {
  const key = `${priority} ${flow}`;
  const round = rounds.get(key) ?? 0;
  rounds.set(key, round + 1);
  return round;
}

const goesBefore = (one: Placed, other: Placed): boolean =>
  one.priority === other.priority ? one.sequence < other.sequence : one.priority < other.priority;
