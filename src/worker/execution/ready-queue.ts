import { GroupLedger } from './group-ledger.js';
import { PriorityLine, type Placed } from './priority-line.js';
import { type WorkGroup } from './work-item.js';

export interface ReadyEntry extends Placed {
  readonly group: WorkGroup;
}

/**
 * The items that are prepared and wait for the device, REALTIME first, then arrival; and what is known of the rest of their
 * groups. Every item that entered by `arrived` leaves by `departed`, whatever happened in between.
 */
export class ReadyQueue<Entry extends ReadyEntry> {
  readonly #line = new PriorityLine<Entry>();
  readonly #groups = new GroupLedger();

  get size(): number {
    return this.#line.size;
  }

  /** The item that goes first. */
  get head(): Entry | undefined {
    return this.#line.head;
  }

  /** Members of the head's group that are still arriving or being prepared. */
  get missingOfHead(): number {
    return this.head ? this.#groups.missing(this.head.group) : 0;
  }

  arrived(entry: Entry, nowMs: number): void {
    this.#groups.arrived(entry.group, nowMs);
  }

  /** Answers how long its group took to be READY, in milliseconds, when this was the last member missing. */
  ready(entry: Entry, nowMs: number): number | undefined {
    this.#line.add(entry);
    return this.#groups.leftPreparation(entry.group, nowMs);
  }

  /** Its preparation failed or was cancelled: the others wait for it no longer. */
  neverReady(entry: Entry, nowMs: number): void {
    this.#groups.leftPreparation(entry.group, nowMs);
  }

  departed(entry: Entry): void {
    this.#groups.departed(entry.group);
  }

  /** False when the device has it already. */
  remove(entry: Entry): boolean {
    return this.#line.remove(entry);
  }

  /** Up to `count` that may be computed together. */
  take(count: number): Entry[] {
    let most = count;
    return this.#line.take(count, ({ group: { mostTogether = count } }, before) => {
      const limit = Math.max(1, Math.min(most, mostTogether));
      if (before >= limit) return false;
      most = limit;
      return true;
    });
  }
}
