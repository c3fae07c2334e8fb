import { FairShare } from '../../core/jobs/fair-share.js';
import type { PlanEntry } from '../../core/jobs/plan-entry.js';
import type { AttemptCount } from '../../core/jobs/retry-policy.js';
import type { ModelPlan } from '../job/job-plan.js';
import type { DoneMap } from '../job/job-progress.js';
import type { TargetGate } from './target-gates.js';

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

export interface DispatchLimits {
  readonly concurrency: number;
  readonly inflightBytes: number;
}

/** A job whose lines are sent. */
export interface SendingJob {
  readonly id: string;
  readonly lanes: readonly LineLane[];
  /** False while its result log is behind, or it stops. */
  readonly mayGo: boolean;
  /** Share of turns, 1 to 4: its urgency. */
  readonly weight: number;
  /** One attempt; puts the ticket to rest, or settles it. Never rejects. */
  send(lane: LineLane, ticket: LineTicket): Promise<void>;
}

/** The one place where lines of all jobs of a processor are chosen (D-18): fair turns, the model's slot, then a global one. */
export class LineDispatcher {
  readonly #share = new FairShare();
  readonly #lanes = new Map<string, { readonly lane: LineLane; readonly job: SendingJob }>();
  #inFlight = 0;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #pumping = false;

  constructor(private readonly limits: DispatchLimits) {}

  get inFlight(): number {
    return this.#inFlight;
  }

  add(job: SendingJob): void {
    for (const lane of job.lanes) this.#lanes.set(lane.key, { lane, job });
    this.weigh(job);
    this.pump();
  }

  /** Tells anew how urgent a job is. */
  weigh({ lanes, weight }: SendingJob): void {
    for (const { key, tenant } of lanes) if (this.#lanes.has(key)) this.#share.put({ key, tenant, weight });
  }

  /** No further line of it is sent; those in flight go on. */
  remove(job: SendingJob): void {
    for (const { key } of job.lanes) {
      this.#lanes.delete(key);
      this.#share.remove(key);
    }
  }

  /** Sends what can go. Called after everything that could let a line go. */
  pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    const nowMs = performance.now();
    while (this.#inFlight < this.limits.concurrency) {
      const key = this.#share.next(candidate => this.#canGo(candidate, nowMs));
      if (key === undefined) break;
      const { lane, job } = this.#lanes.get(key)!;
      this.#send(lane, job, lane.take(nowMs)!);
    }
    this.#pumping = false;
    this.#wakeLater(nowMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #canGo(key: string, nowMs: number): boolean {
    const { lane, job } = this.#lanes.get(key)!;
    if (!job.mayGo || !lane.gate.isOpen(nowMs)) return false;
    const ticket = lane.peek(nowMs);
    if (!ticket) return false;
    return this.#inFlight === 0 || this.#bytes + ticket.entry.length <= this.limits.inflightBytes;
  }

  #send(lane: LineLane, job: SendingJob, ticket: LineTicket): void {
    const { length } = ticket.entry;
    const releaseSlot = lane.gate.acquire();
    this.#inFlight += 1;
    this.#bytes += length;
    void job.send(lane, ticket).then(() => {
      this.#bytes -= length;
      this.#inFlight -= 1;
      releaseSlot();
      this.pump();
    });
  }

  /** A timer only wakes the loop; what may go is decided when looking. */
  #wakeLater(nowMs: number): void {
    this.stop();
    let soonest: number | undefined;
    for (const { lane, job } of this.#lanes.values()) {
      const dueMs = job.mayGo ? lane.nextDueMs(nowMs) : undefined;
      if (dueMs !== undefined && (soonest === undefined || dueMs < soonest)) soonest = dueMs;
    }
    if (soonest !== undefined) this.#timer = setTimeout(() => this.pump(), Math.ceil(soonest - nowMs));
  }
}
