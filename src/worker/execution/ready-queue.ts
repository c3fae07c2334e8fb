import { SlotMap } from '../../core/shared/slot-map.js';
import { type PlacedWork, WorkQueue } from './work-queue.js';
import { type WorkGroup } from './work-item.js';

interface Count {
  readonly size: number;
  readonly firstArrivedMs: number;
  arrived: number;
  preparing: number;
  present: number;
}

/**
 * Counts the missing members of each group (D-24). A group is known from its first member's arrival until no member is
 * left in the worker, so a member that never arrives is dropped with the others.
 */
export class GroupLedger {
  readonly #groups = new SlotMap<string, Count>();

  /** Groups known now. */
  get size(): number {
    return this.#groups.size;
  }

  arrived({ id, size }: WorkGroup, nowMs: number): void {
    if (size <= 1) return;
    const count = this.#groups.get(id) ?? { size, firstArrivedMs: nowMs, arrived: 0, preparing: 0, present: 0 };
    this.#groups.set(id, count);
    count.arrived += 1;
    count.preparing += 1;
    count.present += 1;
  }

  /**
   * A member is READY, or will never be: its preparation failed or was cancelled.
   * @returns milliseconds since the first arrival, if it was the last one missing
   */
  leftPreparation({ id }: WorkGroup, nowMs: number): number | undefined {
    const count = this.#groups.get(id);
    if (!count) return undefined;
    count.preparing -= 1;
    return missingOf(count) === 0 ? nowMs - count.firstArrivedMs : undefined;
  }

  /** A member left the worker. */
  departed({ id }: WorkGroup): void {
    const count = this.#groups.get(id);
    if (!count) return;
    count.present -= 1;
    if (count.present === 0) this.#groups.delete(id);
  }

  /** Members that have not arrived or are being prepared; 0 for a group of one. */
  missing({ id }: WorkGroup): number {
    const count = this.#groups.get(id);
    return count ? missingOf(count) : 0;
  }
}

const missingOf = ({ size, arrived, preparing }: Count): number => Math.max(0, size - arrived) + preparing;

export interface ReadyEntry extends PlacedWork {
  readonly group: WorkGroup;
}

/**
 * Prepared items that wait for the device, REALTIME first, then by arrival, and the state of their groups. Every item
 * that entered by `arrived` leaves by `departed`, whatever happened in between.
 */
export class ReadyQueue<Entry extends ReadyEntry> {
  readonly #queue = new WorkQueue<Entry>();
  readonly #groups = new GroupLedger();
  #preparing = 0;

  get size(): number {
    return this.#queue.size;
  }

  /** The item that goes first. */
  get head(): Entry | undefined {
    return this.#queue.head;
  }

  /** Items of any group that have arrived and are not READY yet. */
  get preparing(): number {
    return this.#preparing;
  }

  /** Members of the head's group that are still arriving or being prepared. */
  get missingOfHead(): number {
    return this.head ? this.#groups.missing(this.head.group) : 0;
  }

  arrived(entry: Entry, nowMs: number): void {
    this.#preparing += 1;
    this.#groups.arrived(entry.group, nowMs);
  }

  /** @returns milliseconds that its group took to be READY, if this was the last member missing */
  ready(entry: Entry, nowMs: number): number | undefined {
    this.#queue.add(entry);
    this.#preparing -= 1;
    return this.#groups.leftPreparation(entry.group, nowMs);
  }

  /** Its preparation failed or was cancelled: the others no longer wait for it. */
  neverReady(entry: Entry, nowMs: number): void {
    this.#preparing -= 1;
    this.#groups.leftPreparation(entry.group, nowMs);
  }

  departed(entry: Entry): void {
    this.#groups.departed(entry.group);
  }

  /** False when the device has it already. */
  remove(entry: Entry): boolean {
    return this.#queue.remove(entry);
  }

  take(count: number): Entry[] {
    return this.#queue.take(count);
  }
}
