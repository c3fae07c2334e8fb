import { type PlanEntry } from '../../core/jobs/plan-entry.js';
import { type AttemptCount } from '../../core/jobs/retry-policy.js';
import { type JobPlan } from '../job/claimed-job.js';
import { type JobProgress } from '../job/job-progress.js';
import { type TargetGate } from './target-gate.js';

/** One line to send, with its attempts so far. */
export interface LineTicket {
  readonly index: number;
  readonly entry: PlanEntry;
  readonly tried: AttemptCount;
}

const NOT_TRIED: AttemptCount = { failed: 0, busy: 0 };

/**
 * Queue of the lines of one model of one job, in plan order. Retries go first when
 * they are due.
 */
export class LineLane {
  readonly key: string;
  #next = 0;
  /** The line at `#next`, created on demand. */
  #fresh: LineTicket | undefined;
  #retries: { readonly ticket: LineTicket; readonly dueMs: number }[] = [];
  #earlier: readonly LineLane[] = [];
  #inFlight = 0;

  constructor(
    /**
     * Unique per claim: a job may be claimed again while its earlier claim in this
     * process still stops.
     */
    claimKey: string,
    readonly tenant: string,
    private readonly lines: JobPlan['models'][number],
    readonly gate: TargetGate,
    private readonly progress: JobProgress,
  ) {
    this.key = `${claimKey}\n${lines.model}`;
    this.#skipDone();
  }

  get model(): string {
    return this.lines.model;
  }

  /** Nothing left to send, unless a line in flight is retried. */
  get isEmpty(): boolean {
    return this.#next >= this.lines.plan.length && this.#retries.length === 0;
  }

  /** Its lines wait until these have all answers: their models share a device with its own. */
  goAfter(lanes: readonly LineLane[]): void {
    this.#earlier = lanes;
  }

  /** An earlier lane has a line in flight or to send, and its target does not refuse lines. */
  isBehind(nowMs: number): boolean {
    return this.#earlier.some(lane => lane.#isBusy(nowMs));
  }

  /** The next line, not removed. */
  peek(nowMs: number): LineTicket | undefined {
    const first = this.#retries[0];
    if (first && first.dueMs <= nowMs) return first.ticket;
    return (this.#fresh ??= this.#planned());
  }

  take(nowMs: number): LineTicket | undefined {
    const ticket = this.peek(nowMs);
    if (!ticket) return undefined;
    this.#inFlight += 1;
    if (this.#retries[0]?.ticket === ticket) this.#retries.shift();
    else {
      this.#next += 1;
      this.#fresh = undefined;
      this.#skipDone();
    }
    return ticket;
  }

  /** A line that was taken has its answer: it is no longer in flight. */
  ended(): void {
    this.#inFlight -= 1;
  }

  /** Queues a retry for `dueMs`; it holds no slot meanwhile. */
  retryAt(ticket: LineTicket, dueMs: number): void {
    const at = this.#retries.findLastIndex(other => other.dueMs <= dueMs) + 1;
    this.#retries.splice(at, 0, { ticket, dueMs });
  }

  /**
   * When time alone makes this lane ready; Infinity: it is ready now, or waits for
   * another event.
   */
  nextDueMs(nowMs: number): number {
    const readyMs = this.peek(nowMs) ? nowMs : (this.#retries[0]?.dueMs ?? Infinity);
    const dueMs = Math.max(readyMs, this.gate.closedUntilMs);
    return dueMs > nowMs ? dueMs : Infinity;
  }

  #isBusy(nowMs: number): boolean {
    const isRefused = this.gate.isAway || nowMs < this.gate.closedUntilMs;
    return !isRefused && (this.#inFlight > 0 || this.peek(nowMs) !== undefined);
  }

  #planned(): LineTicket | undefined {
    const { first, plan } = this.lines;
    if (this.#next >= plan.length) return undefined;
    return { index: first + this.#next, entry: plan.at(this.#next), tried: NOT_TRIED };
  }

  #skipDone(): void {
    while (this.#next < this.lines.plan.length && this.progress.has(this.lines.first + this.#next))
      this.#next += 1;
  }
}
