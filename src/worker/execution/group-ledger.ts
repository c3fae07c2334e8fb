import { SlotMap } from '../../core/shared/slot-map.js';
import { type WorkGroup } from './work-item.js';

interface Count {
  readonly size: number;
  readonly firstArrivedMs: number;
  arrived: number;
  preparing: number;
  present: number;
}

/**
 * Who is missing from which group (D-24). A group is known from its first member's arrival until no member is left in the
 * worker; a member that never arrives is therefore forgotten with the others.
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
   * A member is READY, or will never be: its preparation failed or was cancelled. Answers the milliseconds since the first
   * arrival when it was the last one missing.
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

  /** Members still on their way here or being prepared; 0 for a group of one. */
  missing({ id }: WorkGroup): number {
    const count = this.#groups.get(id);
    return count ? missingOf(count) : 0;
  }
}

const missingOf = ({ size, arrived, preparing }: Count): number => Math.max(0, size - arrived) + preparing;
