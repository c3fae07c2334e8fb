import { RequestPriority } from '../../core/request/request-priority.js';
import { AgingTurns } from '../../core/shared/aging-turns.js';

/** What gives an entry its place: priority and age, then the order in which the worker received it. */
export interface Placed {
  readonly priority: RequestPriority;
  /** Rises by one with every request received. */
  readonly sequence: number;
  /** Parts of one long request share it; absent: the entry is a request of its own. */
  readonly flow?: string;
  /** Aged BATCH: the share of the places that such entries get while REALTIME waits as well (D-03); absent: it is not aged. */
  readonly agingShare?: number;
}

/** REALTIME requests that may come later than a BATCH one and go first; part of the contract (common.proto, `Priority`). */
export const MOST_OVERTAKING = 64;

type Level = 'urgent' | 'aged' | 'batch';

/**
 * REALTIME first, then request by request in turns, each time by arrival: the first waiting part of every request goes before
 * anybody's second. A long file therefore has its part of every group and never all of them while others wait. A request of one part
 * waits for its turn among arrivals, whatever the order of entering: a short file that was decoded first does not overtake an
 * older one.
 *
 * While REALTIME and aged entries both wait, turns decide between them, as in the gateway's queue (D-03). A BATCH entry that
 * `MOST_OVERTAKING` REALTIME ones have passed counts as REALTIME: while interactive work alone is more than the device can do, what was
 * sent here before would else wait for ever (found by `npm run bench -- simulate`). Holds at most the worker's slots (tens), so a
 * sorted array beats anything cleverer.
 */
export class WorkQueue<Entry extends Placed> {
  readonly #entries: Entry[] = [];
  /** For BATCH entries: how many REALTIME ones had come before. */
  readonly #urgentBefore = new WeakMap<Entry, number>();
  #urgent = 0;
  #share: number | undefined;
  #turns: AgingTurns | undefined;

  get size(): number {
    return this.#entries.length;
  }

  get head(): Entry | undefined {
    return this.#inOrder()[0];
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
    const taken: Entry[] = [];
    for (const entry of this.#inOrder()) {
      if (taken.length === count) break;
      if (admits(entry, taken.length)) taken.push(entry);
    }
    for (const entry of taken) {
      this.#count(entry);
      this.remove(entry);
    }
    return taken;
  }

  #inOrder(): readonly Entry[] {
    const isPlain = (entry: Entry): boolean =>
      entry.flow === undefined && this.#levelOf(entry) === (entry.priority ? 'batch' : 'urgent');
    return this.#entries.every(isPlain) ? this.#entries : this.#inTurns();
  }

  /** All entries in the order of their turns. */
  #inTurns(): Entry[] {
    const rounds = new Map<string, number>();
    const levels: Record<Level, { entry: Entry; round: number }[]> = { urgent: [], aged: [], batch: [] };
    for (const entry of this.#entries) {
      const round = entry.flow === undefined ? 0 : nextRound(rounds, entry);
      levels[this.#levelOf(entry)].push({ entry, round });
    }
    const sorted = (level: Level): Entry[] =>
      levels[level]
        .sort((one, other) => one.round - other.round || one.entry.sequence - other.entry.sequence)
        .map(({ entry }) => entry);
    return [...this.#merged(sorted('urgent'), sorted('aged')), ...sorted('batch')];
  }

  #merged(urgent: readonly Entry[], aged: readonly Entry[]): readonly Entry[] {
    if (urgent.length === 0 || aged.length === 0) return [...urgent, ...aged];
    const turns = this.#turnsFor(aged[0]!).copy();
    const merged: Entry[] = [];
    let [u, a] = [0, 0];
    while (u < urgent.length && a < aged.length) {
      const isAged = turns.isAgedNext(urgent[u]!.sequence, aged[a]!.sequence);
      turns.taken(isAged, true);
      merged.push(isAged ? aged[a++]! : urgent[u++]!);
    }
    return [...merged, ...urgent.slice(u), ...aged.slice(a)];
  }

  /** A turn was given to that entry, which still is in the line. */
  #count(entry: Entry): void {
    const levels = new Set(this.#entries.map(one => this.#levelOf(one)));
    this.#turns?.taken(this.#levelOf(entry) === 'aged', levels.has('urgent') && levels.has('aged'));
  }

  #turnsFor({ agingShare = 1 }: Entry): AgingTurns {
    if (this.#turns === undefined || this.#share !== agingShare) this.#turns = new AgingTurns(agingShare);
    this.#share = agingShare;
    return this.#turns;
  }

  #levelOf(entry: Entry): Level {
    if (entry.priority === RequestPriority.REALTIME) return 'urgent';
    if (entry.agingShare !== undefined) return 'aged';
    const overtaking = this.#urgent - (this.#urgentBefore.get(entry) ?? this.#urgent);
    return overtaking >= MOST_OVERTAKING ? 'urgent' : 'batch';
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
