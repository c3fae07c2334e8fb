import { type OnApplicationShutdown } from '@nestjs/common';
import { type Backoff } from '@switchyard/engine-api/backoff.js';
import { FairShare } from '../../core/jobs/fair-share.js';
import { type PlanEntry } from '../../core/jobs/plan-entry.js';
import { Reachability } from '../../core/jobs/reachability.js';
import { type AttemptCount } from '../../core/jobs/retry-policy.js';
import { type JobPlan } from '../job/claimed-job.js';
import { type JobProgress } from '../job/job-progress.js';

/**
 * The slots of one model at one target: as many as the target sustains, none until its
 * `Retry-After`, and one probing line at a time while it is unreachable. There is one slot
 * more per full round without trouble, and half after a busy or failing answer (AIMD),
 * between 1 and the configured limit. One cut per round: of a burst of 429s only the first
 * is news.
 */
export class TargetGate {
  readonly #reachability: Reachability;
  #slots: number;
  #inFlight = 0;
  #isProbing = false;
  #busyUntilMs = 0;
  #answers = 0;
  #goodInARow = 0;
  /** Answers that are still due to lines sent before the last cut; they cut no more. */
  #stale = 0;

  /** @param maxSlots the configured limit, whole number >= 1 */
  constructor(
    private readonly maxSlots: number,
    pauses: Backoff,
  ) {
    if (!Number.isInteger(maxSlots) || maxSlots < 1)
      throw new RangeError(`A concurrency limit is >= 1, not ${maxSlots}.`);
    this.#slots = maxSlots;
    this.#reachability = new Reachability(pauses);
  }

  get slots(): number {
    return this.#slots;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** The target is unreachable: the next line is sent alone, as a probe. */
  get isAway(): boolean {
    return this.#reachability.isAway;
  }

  /** Answers so far. */
  get answers(): number {
    return this.#answers;
  }

  /** Monotonic milliseconds; 0 = open. */
  get closedUntilMs(): number {
    return Math.max(this.#busyUntilMs, this.#reachability.untilMs);
  }

  isOpen(nowMs: number): boolean {
    if (nowMs < this.closedUntilMs) return false;
    return this.isAway ? !this.#isProbing : this.#inFlight < this.#slots;
  }

  /** @returns the function that releases the slot */
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
    if (this.#stale > 0) this.#stale -= 1;
    if (this.#slots >= this.maxSlots || ++this.#goodInARow < this.#slots) return;
    this.#slots += 1;
    this.#goodInARow = 0;
  }

  /** The target answered 429 or 5xx. @param waitMs from `Retry-After` */
  overloaded(nowMs: number, waitMs = 0): void {
    this.#busyUntilMs = Math.max(this.#busyUntilMs, nowMs + waitMs);
    this.#goodInARow = 0;
    if (this.#stale > 0) return void (this.#stale -= 1);
    this.#stale = this.#slots - 1;
    this.#slots = Math.max(1, Math.floor(this.#slots / 2));
  }

  /** The target is unreachable. @returns true if it was reachable before */
  failed(nowMs: number, waitMs = 0): boolean {
    const isNew = !this.isAway;
    this.#reachability.failed(nowMs, waitMs);
    return isNew;
  }

  /** The target answered, with any status. @returns true if it was unreachable before */
  answered(): boolean {
    const isNew = this.isAway;
    this.#reachability.returned();
    this.#answers += 1;
    return isNew;
  }
}

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
  readonly #lanes = new Map<string, { readonly lane: LineLane; readonly job: SendingJob }>();
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
    if (!job.maySend || !lane.gate.isOpen(nowMs) || lane.isBehind(nowMs)) return false;
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
      lane.ended();
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
