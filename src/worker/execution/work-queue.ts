import { RequestPriority } from '../../core/request/request-priority.js';
import { AgingTurns } from '../../core/shared/aging-turns.js';

/** What decides an entry's place: priority and age, then the order in which the worker received it. */
export interface PlacedWork {
  readonly priority: RequestPriority;
  /** Rises by one with every request received. */
  readonly sequence: number;
  /** Shared by the parts of one long request; absent: the entry is a whole request. */
  readonly flow?: string;
  /** Aged BATCH: its share of the turns while REALTIME waits too (D-03); absent: not aged. */
  readonly agingShare?: number;
}

/** Later REALTIME requests that may overtake a BATCH one; part of the contract (common.proto, `Priority`). */
export const MOST_OVERTAKING = 64;

type Level = 'urgent' | 'aged' | 'batch';

/**
 * REALTIME first, then round robin over requests, each round by arrival: the first waiting part of every request goes
 * before any second part. So a long file has its share of every group, and never whole groups while others wait.
 * Requests of one part go by arrival at the worker, not by the order of entry here: a short file that was decoded first
 * does not overtake an older one.
 *
 * While REALTIME and aged entries both wait, turns decide between them, as in the gateway's queue (D-03). A BATCH entry
 * that was overtaken by `MOST_OVERTAKING` REALTIME ones counts as REALTIME: otherwise it would starve while interactive
 * work alone overloads the device (found by `npm run bench -- simulate`). It holds at most the worker's slots (tens),
 * so a sorted array is fast enough.
 */
export class WorkQueue<Entry extends PlacedWork> {
  readonly #entries: Entry[] = [];
  /** For BATCH entries: REALTIME entries that were added before. */
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

  /** False when the entry is not in the queue. */
  remove(entry: Entry): boolean {
    const place = this.#entries.indexOf(entry);
    if (place < 0) return false;
    this.#entries.splice(place, 1);
    return true;
  }

  /** Removes and returns up to `count` entries in their order. */
  take(count: number): Entry[] {
    const taken = this.#inOrder().slice(0, count);
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

  /** Counts the turn of an entry that is still in the queue. */
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

function nextRound(rounds: Map<string, number>, { flow = '', priority }: PlacedWork): number {
  const key = `${priority} ${flow}`;
  const round = rounds.get(key) ?? 0;
  rounds.set(key, round + 1);
  return round;
}

const goesBefore = (one: PlacedWork, other: PlacedWork): boolean =>
  one.priority === other.priority ? one.sequence < other.sequence : one.priority < other.priority;
