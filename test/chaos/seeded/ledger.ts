/** What a violated invariant is called in the report. */
export type Invariant =
  | 'lost'
  | 'wrong'
  | 'twice'
  | 'tenant'
  | 'stuck'
  | 'visible'
  | 'slots'
  | 'descriptors'
  | 'end'
  | 'crash';

export interface Violation {
  readonly invariant: Invariant;
  readonly text: string;
  /** Since the traffic began. */
  readonly atMs: number;
}

/** One request that a caller wants answered. */
export interface Entry {
  readonly id: string;
  readonly tenant: string;
  readonly operation: string;
  readonly sinceMs: number;
}

/**
 * What was asked for, what came of it, and what contradicts the promises of the product.
 */
export class Ledger {
  readonly violations: Violation[] = [];
  /** Answered rightly, by operation. */
  readonly settled = new Map<string, number>();
  attempts = 0;
  /** Ids whose caller left, or was told to come again: a second result is right. */
  readonly mayRunAgain = new Set<string>();
  readonly #open = new Set<Entry>();
  readonly #startMs = performance.now();

  get nowMs(): number {
    return performance.now() - this.#startMs;
  }

  get total(): number {
    return [...this.settled.values()].reduce((sum, count) => sum + count, 0);
  }

  open(tenant: string, operation: string, id: string): Entry {
    const entry = { tenant, operation, id, sinceMs: this.nowMs };
    this.#open.add(entry);
    return entry;
  }

  settle(entry: Entry): void {
    this.#open.delete(entry);
    this.settled.set(entry.operation, (this.settled.get(entry.operation) ?? 0) + 1);
  }

  /** A promise to this caller is broken; nothing more is expected of it. */
  violate(invariant: Invariant, entry: Entry, text: string): void {
    this.#open.delete(entry);
    const sinceS = ((this.nowMs - entry.sinceMs) / 1000).toFixed(1);
    this.note(
      invariant,
      `${entry.operation} ${entry.id} of ${entry.tenant}, ${sinceS} s after it was sent: ${text}`,
    );
  }

  note(invariant: Invariant, text: string): void {
    this.violations.push({ invariant, text, atMs: Math.round(this.nowMs) });
  }

  /** Requests that still wait when the traffic is over. */
  noteStuck(): void {
    for (const entry of this.#open) this.violate('stuck', entry, 'it was never settled');
  }
}
