/** What a violated invariant is called in the report. */
export type Invariant =
  | 'lost'
  | 'wrong'
  | 'twice'
  | 'tenant'
  | 'stuck'
  | 'visible'
  | 'unanswered'
  | 'usage'
  | 'shares'
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
 * How an attempt ended that has no whole answer. `not kept`: the stream of a request that is
 * stored had begun; its last bytes wait until the answer is stored, or are another attempt's.
 */
type Silence = 'broken off' | 'refused' | 'silent' | 'not kept';

/** An attempt whose caller learned nothing. Milliseconds since the traffic began. */
interface UnansweredAttempt {
  readonly what: string;
  readonly how: Silence;
  readonly fromMs: number;
  readonly toMs: number;
}

interface Interruption {
  readonly how: 'silent' | 'database' | 'any';
  readonly fromMs: number;
  toMs: number;
}

/**
 * What was asked for, what came of it, and what contradicts the promises of the product.
 */
export class Ledger {
  readonly violations: Violation[] = [];
  /** Answered rightly, by operation. */
  readonly settled = new Map<string, number>();
  attempts = 0;
  /** Ids of jobs whose caller left, or was told to come again: a second result is right. */
  readonly mayRunAgain = new Set<string>();
  /** Completed inference requests by tenant, each line of a batch for itself. */
  readonly completed = new Map<string, number>();
  /** By tenant: withdrawn perhaps when it was computed, which is charged. */
  readonly cancelled = new Map<string, number>();
  readonly #unanswered: UnansweredAttempt[] = [];
  /** While a fault explains that gateways do not answer; `toMs` Infinity: it lasts. */
  readonly #interruptions: Interruption[] = [];
  readonly #open = new Set<Entry>();
  #startMs = performance.now();

  get nowMs(): number {
    return performance.now() - this.#startMs;
  }

  get total(): number {
    return [...this.settled.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The traffic begins: times are counted from now. */
  begin(): void {
    this.#startMs = performance.now();
  }

  open(tenant: string, operation: string, id: string): Entry {
    const entry = { tenant, operation, id, sinceMs: this.nowMs };
    this.#open.add(entry);
    return entry;
  }

  settle(entry: Entry): void {
    this.#open.delete(entry);
    add(this.settled, entry.operation, 1);
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

  complete(tenant: string, count = 1): void {
    add(this.completed, tenant, count);
  }

  cancel(tenant: string): void {
    add(this.cancelled, tenant, 1);
  }

  get unanswered(): number {
    return this.#unanswered.length;
  }

  noteUnanswered(what: string, how: Silence, fromMs: number): void {
    this.#unanswered.push({ what, how, fromMs, toMs: this.nowMs });
  }

  /**
   * A fault begins that may leave attempts without an answer.
   * @param how all that wait too long; what was not kept, too; connections that break off, too
   * @returns to be called when it is over
   */
  interrupted(how: Interruption['how']): () => void {
    const interruption = { how, fromMs: this.nowMs, toMs: Infinity };
    this.#interruptions.push(interruption);
    return () => void (interruption.toMs = this.nowMs);
  }

  /**
   * @param most attempts that the faults may leave without an answer. Refused connections
   *   are not counted: nothing had begun. Nor are streams that were not kept: each retry of
   *   their callers is one while the store is away.
   */
  boundUnanswered(most: number): void {
    for (const attempt of this.#unanswered)
      if (!this.#isExplained(attempt)) this.note('unanswered', attemptText(attempt));
    const begun = this.#unanswered.filter(({ how }) => how === 'silent' || how === 'broken off');
    if (begun.length > most)
      this.note(
        'unanswered',
        `${begun.length} attempts, ${most} at most: ${begun.slice(0, 5).map(attemptText).join('; ')}`,
      );
  }

  #isExplained({ how, fromMs, toMs }: UnansweredAttempt): boolean {
    return this.#interruptions.some(
      struck =>
        (struck.how === 'any' ||
          how === 'silent' ||
          (struck.how === 'database' && how === 'not kept')) &&
        struck.fromMs <= toMs &&
        struck.toMs >= fromMs,
    );
  }

  /** Requests that still wait when the traffic is over. */
  noteStuck(): void {
    for (const entry of this.#open) this.violate('stuck', entry, 'it was never settled');
  }
}

const attemptText = ({ what, how, fromMs, toMs }: UnansweredAttempt): string =>
  `${what}: ${how} ${((toMs - fromMs) / 1000).toFixed(1)} s after it was sent at ${(fromMs / 1000).toFixed(1)} s`;

function add(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}
