import { type OnApplicationShutdown } from '@nestjs/common';
import { FairShare } from '../../core/jobs/fair-share.js';
import { type PlanEntry } from '../../core/jobs/plan-entry.js';
import { type AttemptCount } from '../../core/jobs/retry-policy.js';
import { type ModelPlan } from '../job/job-plan.js';
import { type DoneMap } from '../job/job-progress.js';
import { type TargetGate } from './target-gate.js';

/** One line to send, with its attempts so far. */
export interface LineTicket {
  readonly index: number;
  readonly entry: PlanEntry;
  readonly tried: AttemptCount;
}

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

  constructor(
    /**
     * Unique per claim: a job may be claimed again while its earlier claim in this
     * process still stops.
     */
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

  /** Nothing left to send, unless a line in flight is retried. */
  get isEmpty(): boolean {
    return this.#next >= this.lines.plan.length && this.#retries.length === 0;
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
    if (this.#retries[0]?.ticket === ticket) this.#retries.shift();
    else {
      this.#next += 1;
      this.#fresh = undefined;
      this.#skipDone();
    }
    return ticket;
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

  #planned(): LineTicket | undefined {
    const { first, plan } = this.lines;
    if (this.#next >= plan.length) return undefined;
    return { index: first + this.#next, entry: plan.at(this.#next), tried: NOT_TRIED };
  }

  #skipDone(): void {
    while (
      this.#next < this.lines.plan.length &&
      this.done.has(this.lines.first + this.#next)
    )
      this.#next += 1;
  }
}

const NOT_TRIED: AttemptCount = { failed: 0, busy: 0 };

/** A job whose lines are being sent. */
export interface SendingJob {
  readonly lanes: readonly LineLane[];
  /** False while its result log is behind or it stops. */
  readonly maySend: boolean;
  /** Urgency, 1 to 4: its share of turns. */
  readonly weight: number;
  /** Makes one attempt, then records the result or queues a retry. Never rejects. */
  send(lane: LineLane, ticket: LineTicket): Promise<void>;
}

/**
 * Chooses the next line among all jobs of the processor (D-18): fair turn, then the
 * model's slot, then a global slot.
 */
export class LineDispatcher implements OnApplicationShutdown {
  readonly #share = new FairShare();
  readonly #lanes = new Map<
    string,
    { readonly lane: LineLane; readonly job: SendingJob }
  >();
  #inFlight = 0;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #pumping = false;

  constructor(
    private readonly limits: {
      readonly concurrency: number;
      readonly inflightBytes: number;
    },
  ) {}

  get inFlight(): number {
    return this.#inFlight;
  }

  add(job: SendingJob): void {
    for (const lane of job.lanes) this.#lanes.set(lane.key, { lane, job });
    this.updateWeight(job);
    this.pump();
  }

  /** Re-reads the urgency of a job. */
  updateWeight({ lanes, weight }: SendingJob): void {
    for (const { key, tenant } of lanes)
      if (this.#lanes.has(key)) this.#share.put({ key, tenant, weight });
  }

  /** Sends no further line of a job; lines in flight continue. */
  remove(job: SendingJob): void {
    for (const { key } of job.lanes) {
      this.#lanes.delete(key);
      this.#share.remove(key);
    }
  }

  /**
   * Sends all lines that can be sent. Must be called after every event that can make
   * a line ready.
   */
  pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    const nowMs = performance.now();
    while (this.#inFlight < this.limits.concurrency) {
      const key = this.#share.next(candidate => this.#canSend(candidate, nowMs));
      if (key === undefined) break;
      const { lane, job } = this.#lanes.get(key)!;
      this.#send(lane, job, lane.take(nowMs)!);
    }
    this.#pumping = false;
    this.#wakeLater(nowMs);
  }

  onApplicationShutdown(): void {
    clearTimeout(this.#timer);
  }

  #canSend(key: string, nowMs: number): boolean {
    const { lane, job } = this.#lanes.get(key)!;
    if (!job.maySend || !lane.gate.isOpen(nowMs)) return false;
    const ticket = lane.peek(nowMs);
    if (!ticket) return false;
    return (
      this.#inFlight === 0 ||
      this.#bytes + ticket.entry.length <= this.limits.inflightBytes
    );
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

  /** The timer only wakes the loop, which decides anew. */
  #wakeLater(nowMs: number): void {
    clearTimeout(this.#timer);
    let soonestMs = Infinity;
    for (const { lane, job } of this.#lanes.values()) {
      if (job.maySend) soonestMs = Math.min(soonestMs, lane.nextDueMs(nowMs));
    }
    if (soonestMs < Infinity)
      this.#timer = setTimeout(() => this.pump(), Math.ceil(soonestMs - nowMs));
  }
}
