import { Lease } from '../../core/shared/lease.js';

/** Requests a worker takes at once: one group per device lane, and one prepared ahead (D-24). */
export const slotCredits = (worker: { readonly maxBatch: number; readonly maxConcurrent: number }): number =>
  worker.maxBatch * (worker.maxConcurrent + 1);

/**
 * The slots of one worker process. A slot is free again when its lease is released, which the dispatch loop does when
 * the worker has let go of the work, never at a deadline or a cancel.
 *
 * A lost worker is resized to 0: nothing can be leased, and leases that are still out come back without effect.
 */
export class SlotLedger {
  #total = 0;
  #inUse = 0;

  /** @param onGrowth called after free slots became more; synchronous. */
  constructor(private readonly onGrowth: () => void) {}

  get total(): number {
    return this.#total;
  }

  get inUse(): number {
    return this.#inUse;
  }

  get free(): number {
    return Math.max(0, this.#total - this.#inUse);
  }

  resize(total: number): void {
    this.#change(() => (this.#total = total));
  }

  /** @throws Error when fewer than `count` are free: a plan never exceeds its offer (D-01). */
  lease(count: number): readonly Lease[] {
    if (count > this.free) throw new Error(`${count} slots wanted, ${this.free} of ${this.#total} free`);
    this.#inUse += count;
    return Array.from({ length: count }, () => new Lease(() => this.#change(() => this.#inUse--)));
  }

  #change(apply: () => void): void {
    const before = this.free;
    apply();
    if (this.free > before) this.onGrowth();
  }
}
