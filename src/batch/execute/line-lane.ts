import { type PlanEntry } from '../../core/jobs/plan-entry.js';
import { type AttemptCount } from '../../core/jobs/retry-policy.js';
import { type ModelPlan } from '../ingest/job-plan.js';
import { type DoneMap } from './done-map.js';
import { type TargetGate } from './target-gate.js';

/** One line on its way, with what was tried so far. */
export interface LineTicket {
  readonly index: number;
  readonly entry: PlanEntry;
  readonly tried: AttemptCount;
}

interface Resting {
  readonly ticket: LineTicket;
  readonly dueMs: number;
}

/** The lines of one model of one job, in the order of the plan; lines that are tried again go first when they are due. */
export class LineLane {
  readonly key: string;
  #next = 0;
  /** The line at `#next`, once it was asked for. */
  #fresh: LineTicket | undefined;
  #resting: Resting[] = [];

  constructor(
    /** Of one claim of one job: the same job may be claimed anew while its earlier claim here still winds down. */
    claimKey: string,
    readonly tenant: string,
    private readonly lines: ModelPlan,
    readonly gate: TargetGate,
    private readonly done: DoneMap,
  ) {
    this.key = `${claimKey}\n${lines.model}`;
    this.#skipDone();
  }

  get model(): string {
    return this.lines.model;
  }

  /** Nothing left to send, now or later, unless a line in flight comes back. */
  get isEmpty(): boolean {
    return this.#next >= this.lines.plan.length && this.#resting.length === 0;
  }

  /** The line that would go now. */
  peek(nowMs: number): LineTicket | undefined {
    const first = this.#resting[0];
    if (first && first.dueMs <= nowMs) return first.ticket;
    return (this.#fresh ??= this.#planned());
  }

  take(nowMs: number): LineTicket | undefined {
    const ticket = this.peek(nowMs);
    if (!ticket) return undefined;
    if (this.#resting[0]?.ticket === ticket) this.#resting.shift();
    else {
      this.#next += 1;
      this.#fresh = undefined;
      this.#skipDone();
    }
    return ticket;
  }

  /** Comes again at `dueMs`; it holds no slot meanwhile. */
  rest(ticket: LineTicket, dueMs: number): void {
    const at = this.#resting.findLastIndex(other => other.dueMs <= dueMs) + 1;
    this.#resting.splice(at, 0, { ticket, dueMs });
  }

  /** When this lane can go again by the mere passing of time; undefined: now, or by other events only. */
  nextDueMs(nowMs: number): number | undefined {
    const restMs = this.peek(nowMs) ? nowMs : this.#resting[0]?.dueMs;
    if (restMs === undefined) return undefined;
    const dueMs = Math.max(restMs, this.gate.closedUntilMs);
    return dueMs > nowMs ? dueMs : undefined;
  }

  #planned(): LineTicket | undefined {
    const { first, plan } = this.lines;
    if (this.#next >= plan.length) return undefined;
    return { index: first + this.#next, entry: plan.at(this.#next), tried: NOT_TRIED };
  }

  #skipDone(): void {
    while (this.#next < this.lines.plan.length && this.done.has(this.lines.first + this.#next)) this.#next += 1;
  }
}

const NOT_TRIED: AttemptCount = { failed: 0, busy: 0 };
