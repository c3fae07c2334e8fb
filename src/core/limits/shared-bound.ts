/** What an entry takes of a shared bound, and who it is for. */
export interface Claim {
  /** Units of the bound's capacity that it takes (1). */
  readonly size?: number;
  /** True: it may use the reserve. */
  readonly urgent?: boolean;
  /**
   * Gives its place to another tenant: called once, after it was removed. Absent: it stays until
   * it leaves.
   */
  readonly end?: () => void;
  /**
   * How fast it proceeds, in any unit: the slowest entry of its tenant is ended first. Undefined:
   * it may not be ended now.
   */
  readonly pace?: () => number | undefined;
}

interface Entry extends Claim {
  readonly tenant: string;
  readonly size: number;
}

/**
 * A bound that all tenants share (D-51). Full means: the tenant that holds the most is refused, or
 * its slowest entry ends when another tenant asks. A reserve is left for urgent entries. It counts
 * entries, whatever ids callers give them.
 */
export class SharedBound {
  readonly #entries = new Map<string, Set<Entry>>();
  readonly #held = new Map<string, number>();
  #used = 0;

  constructor(
    private readonly capacity: number,
    private readonly reserve = 0,
  ) {}

  get used(): number {
    return this.#used;
  }

  /** @returns leaves, however often it is called; undefined: refused, and nothing was ended for it */
  enter(tenant: string, claim: Claim = {}): (() => void) | undefined {
    const entry: Entry = { ...claim, tenant, size: claim.size ?? 1 };
    const ended = this.#endedFor(entry);
    if (!ended) return undefined;
    for (const other of ended) this.#remove(other);
    this.#add(entry);
    for (const other of ended) other.end?.();
    return () => this.#remove(entry);
  }

  /** Entries that must end so that `entry` has room; undefined: it is refused. */
  #endedFor({ tenant, size, urgent }: Entry): readonly Entry[] | undefined {
    let missing = this.#used + size - (urgent ? this.capacity : this.capacity - this.reserve);
    if (missing <= 0) return [];
    const most = this.#mostHolding();
    if (most === undefined || most === tenant) return undefined;
    let surplus = this.#heldBy(most) - this.#heldBy(tenant) - size;
    const ended: Entry[] = [];
    for (const entry of this.#slowestFirst(most)) {
      surplus -= entry.size;
      if (surplus < 0) return undefined;
      ended.push(entry);
      missing -= entry.size;
      if (missing <= 0) return ended;
    }
    return undefined;
  }

  #mostHolding(): string | undefined {
    let most: string | undefined;
    for (const [tenant, held] of this.#held)
      if (most === undefined || held > this.#heldBy(most)) most = tenant;
    return most;
  }

  #slowestFirst(tenant: string): readonly Entry[] {
    const paced: { entry: Entry; pace: number }[] = [];
    for (const entry of this.#entries.get(tenant) ?? []) {
      const pace = entry.pace ? entry.pace() : 0;
      if (entry.end && pace !== undefined) paced.push({ entry, pace });
    }
    return paced.sort((a, b) => a.pace - b.pace).map(({ entry }) => entry);
  }

  #heldBy(tenant: string): number {
    return this.#held.get(tenant) ?? 0;
  }

  #add(entry: Entry): void {
    const { tenant, size } = entry;
    const entries = this.#entries.get(tenant) ?? new Set();
    this.#entries.set(tenant, entries.add(entry));
    this.#held.set(tenant, this.#heldBy(tenant) + size);
    this.#used += size;
  }

  #remove(entry: Entry): void {
    const entries = this.#entries.get(entry.tenant);
    if (!entries?.delete(entry)) return;
    this.#used -= entry.size;
    this.#held.set(entry.tenant, this.#heldBy(entry.tenant) - entry.size);
    if (entries.size > 0) return;
    this.#entries.delete(entry.tenant);
    this.#held.delete(entry.tenant);
  }
}
