/** Engine calls whose members are still answering; far more than a gateway has in flight at once. */
const REMEMBERED = 4096;

/**
 * Tells the first answer of an engine call from those of the other members, so that `scheduler_batch_size` counts calls.
 *
 * A call is forgotten when its last member answered. Members that were cancelled never answer: the oldest calls are
 * dropped beyond `REMEMBERED`, so a missing answer costs one entry for a while and never memory without end.
 */
export class CountedCalls {
  readonly #awaited = new Map<string, number>();

  /** True for the first member seen of `batchId`; `size` is the call's number of members. */
  firstOf(batchId: string, size: number): boolean {
    const awaited = this.#awaited.get(batchId);
    const left = (awaited ?? size) - 1;
    if (left > 0) this.#awaited.set(batchId, left);
    else this.#awaited.delete(batchId);
    this.#forgetOldest();
    return awaited === undefined;
  }

  get size(): number {
    return this.#awaited.size;
  }

  #forgetOldest(): void {
    if (this.#awaited.size <= REMEMBERED) return;
    const oldest = this.#awaited.keys().next();
    if (!oldest.done) this.#awaited.delete(oldest.value);
  }
}
