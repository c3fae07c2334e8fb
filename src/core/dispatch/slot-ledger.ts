import { Lease } from './lease.js';
import { type SlotCredit } from './worker.port.js';

/**
 * The slots of one worker process. A slot is free again when its lease is released: when
 * the worker has ended the call, never at a deadline or a cancel.
 *
 * Two credits share one account: `free` is what is left of the total, `urgent` that plus
 * an overdraft. The overdraft is paid back first, so `free` stays 0 until fewer than the
 * total are in use.
 *
 * A lost worker is resized to 0: nothing can be leased, and leases that are still out are
 * released without effect.
 */
export class SlotLedger {
  total = 0;
  /**
   * May exceed the total, by the overdraft at most; after a shrink by whatever is out.
   */
  inUse = 0;
  #overdraft = 0;
  /** Largest group of suspects. */
  #group = Infinity;
  #latestMostTogether: number | undefined;
  /** Of the suspects that have leases; undefined: no suspect has one. */
  #mostTogether: number | undefined;

  /**
   * @param onGrowth called after either credit has grown; synchronous
   * @param onReturn called after a lease was released, whether or not that frees
   *   a slot; synchronous
   */
  constructor(
    private readonly onGrowth: () => void = () => undefined,
    private readonly onReturn: () => void = () => undefined,
  ) {}

  get free(): number {
    return Math.max(0, this.total - this.inUse);
  }

  /** The last one that had a slot was a suspect that ran alone (D-38). */
  get latestAlone(): boolean {
    return this.#latestMostTogether === 1;
  }

  /** Slots that REALTIME may take beyond the regular ones. */
  get overdraft(): number {
    return this.#overdraft;
  }

  get urgent(): number {
    return Math.max(0, this.total + this.#overdraft - this.inUse);
  }

  /**
   * What a request may take: suspects share a worker with suspects only, and no group is
   * sent ahead (D-38).
   */
  creditsFor(mostTogether: number | undefined): Readonly<Record<SlotCredit, number>> {
    const [free, urgent] = [this.free, this.urgent];
    const isAlike = (mostTogether === undefined) === (this.#mostTogether === undefined);
    if (this.inUse > 0 && !isAlike) return { free: 0, urgent: 0 };
    if (mostTogether === undefined) return { free, urgent };
    const most = Math.min(mostTogether, this.#mostTogether ?? mostTogether, this.#group);
    const left = Math.max(0, most - this.inUse);
    return { free: Math.min(free, left), urgent: Math.min(urgent, left) };
  }

  /** @param group largest group of suspects */
  resize(total: number, overdraft = 0, group = Infinity): void {
    const { free, urgent } = this;
    this.#group = group;
    this.total = total;
    this.#overdraft = overdraft;
    this.#reportGrowth(free, urgent);
  }

  /**
   * @throws Error when there are fewer than `count` of that credit: a plan never exceeds
   *   its offer (D-01).
   */
  lease(count: number, credit: SlotCredit = 'free', mostTogether?: number): readonly Lease[] {
    const left = this[credit];
    if (count > left)
      throw new Error(
        `${count} slots wanted, ${left} ${credit} of ${this.total} + ${this.#overdraft}`,
      );
    this.#mostTogether = mostTogether && Math.min(mostTogether, this.#mostTogether ?? mostTogether);
    this.#latestMostTogether = mostTogether;
    this.inUse += count;
    const leases: Lease[] = [];
    while (leases.length < count) leases.push(new Lease(this.#release));
    return leases;
  }

  readonly #release = (): void => {
    const { free, urgent } = this;
    this.inUse -= 1;
    if (this.inUse === 0) this.#mostTogether = undefined;
    this.#reportGrowth(free, urgent);
    this.onReturn();
  };

  /**
   * Calls `onGrowth` if there are more slots than before.
   * @param free free slots before the change
   * @param urgent slots free for REALTIME before it
   */
  #reportGrowth(free: number, urgent: number): void {
    if (this.free > free || this.urgent > urgent) this.onGrowth();
  }
}
