import { Absence, probePauses } from '../../core/jobs/absence.js';
import { ConcurrencyLimit } from '../../core/jobs/concurrency-limit.js';
import type { Backoff } from '../../core/shared/backoff.js';
import type { LineTarget } from './line-target.js';
import type { TargetResolver } from './target-resolver.js';

/**
 * The slots of one model at one target: as many as it stands (AIMD), none while it asked to wait (`Retry-After`), and a single
 * probing line at a time while it is away, until it answers one.
 */
export class TargetGate {
  readonly limit: ConcurrencyLimit;
  readonly #absence: Absence;
  #inFlight = 0;
  #isProbing = false;
  #busyUntilMs = 0;
  #answers = 0;

  constructor(most: number, pauses: Backoff) {
    this.limit = new ConcurrencyLimit(most);
    this.#absence = new Absence(pauses);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** The target did not answer the last line that was sent; the next one goes alone. */
  get isAway(): boolean {
    return this.#absence.isAway;
  }

  /** How often the target answered. */
  get answers(): number {
    return this.#answers;
  }

  /** Monotonic milliseconds; 0: open. */
  get closedUntilMs(): number {
    return Math.max(this.#busyUntilMs, this.#absence.untilMs);
  }

  isOpen(nowMs: number): boolean {
    if (nowMs < this.closedUntilMs) return false;
    return this.isAway ? !this.#isProbing : this.#inFlight < this.limit.current;
  }

  /** @returns how to give the slot back */
  acquire(): () => void {
    const isProbe = this.isAway;
    if (isProbe) this.#isProbing = true;
    this.#inFlight += 1;
    return () => {
      if (isProbe) this.#isProbing = false;
      this.#inFlight -= 1;
    };
  }

  succeeded(): void {
    this.limit.succeeded();
  }

  /** 429 or 5xx. @param waitMs what the target asked to wait */
  troubled(nowMs: number, waitMs = 0): void {
    this.limit.troubled();
    this.#busyUntilMs = Math.max(this.#busyUntilMs, nowMs + waitMs);
  }

  /** Nobody answers there. @returns true when that is news */
  away(nowMs: number, waitMs = 0): boolean {
    const isNews = !this.isAway;
    this.#absence.failed(nowMs, waitMs);
    return isNews;
  }

  /** An answer, whatever it says. @returns true when the target was away before */
  answered(): boolean {
    const isNews = this.isAway;
    this.#absence.returned();
    this.#answers += 1;
    return isNews;
  }
}

/** Of a model without a target: its lines are never sent. */
const NO_RETRIES = { initialMs: 0, maxMs: 0 };

/** The gate of each model at its target; jobs share them. */
export class TargetGates {
  readonly #gates = new Map<LineTarget | undefined, Map<string, TargetGate>>();

  constructor(
    private readonly targets: TargetResolver,
    /** `batch.concurrency_per_model` */
    private readonly most: number,
  ) {}

  of(model: string): TargetGate {
    const target = this.targets.targetOf(model);
    let ofTarget = this.#gates.get(target);
    if (!ofTarget) this.#gates.set(target, (ofTarget = new Map<string, TargetGate>()));
    let gate = ofTarget.get(model);
    if (!gate) ofTarget.set(model, (gate = new TargetGate(this.most, probePauses(target?.spec.retries ?? NO_RETRIES))));
    return gate;
  }

  /** Lines in flight per model. */
  *inFlight(): Generator<{ model: string; inFlight: number }> {
    for (const ofTarget of this.#gates.values())
      for (const [model, { inFlight }] of ofTarget) yield { model, inFlight };
  }
}
