import { type TenantCounters } from './tenant-counters.js';
import { WaitingLine } from './waiting-line.js';

/** What the place in the line depends on. */
export interface Placed {
  readonly tenant: string;
  /** See `agingKey`. */
  readonly key: number;
}

/**
 * The class that a place counts as at `nowMs`: its own, less one for each `classWidthMs` of waiting. It falls out of the static
 * key, and so never changes the order of two requests of one tenant.
 */
export const effectiveClass = (key: number, nowMs: number, classWidthMs: number): number =>
  Math.max(0, Math.ceil((key - nowMs) / classWidthMs));

/**
 * The line before the running set: effective class first, among equals the tenant that was served least, and within a tenant
 * by age. So nobody waits behind a lower class, nobody waits in a lower class for ever, and no tenant fills the device.
 */
export class FairLine<S extends Placed> {
  readonly #lines = new Map<string, WaitingLine<S>>();
  readonly #counters: TenantCounters;
  readonly #classWidthMs: number;

  constructor(counters: TenantCounters, classWidthMs: number) {
    this.#counters = counters;
    this.#classWidthMs = classWidthMs;
  }

  get size(): number {
    let size = 0;
    for (const line of this.#lines.values()) size += line.size;
    return size;
  }

  add(item: S): void {
    const line = this.#lines.get(item.tenant) ?? new WaitingLine<S>();
    this.#lines.set(item.tenant, line);
    line.add(item, item.key);
  }

  /** True when it was in the line. */
  remove(item: S): boolean {
    const line = this.#lines.get(item.tenant);
    if (!line?.remove(item)) return false;
    if (line.size === 0) this.#lines.delete(item.tenant);
    return true;
  }

  /** The first one that `accepts` takes; it stays in the line. */
  first(nowMs: number, accepts: (item: S) => boolean): S | undefined {
    let best: S | undefined;
    for (const line of this.#lines.values()) {
      const head = line.first(accepts);
      if (head && (best === undefined || this.#isBefore(head, best, nowMs))) best = head;
    }
    return best;
  }

  #isBefore(one: S, other: S, nowMs: number): boolean {
    const classes =
      effectiveClass(one.key, nowMs, this.#classWidthMs) - effectiveClass(other.key, nowMs, this.#classWidthMs);
    if (classes !== 0) return classes < 0;
    const served = this.#counters.served(one.tenant) - this.#counters.served(other.tenant);
    return served !== 0 ? served < 0 : one.key < other.key;
  }
}
