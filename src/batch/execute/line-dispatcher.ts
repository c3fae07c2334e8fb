import { FairShare } from '../../core/jobs/fair-share.js';
import { type LineLane, type LineTicket } from './line-lane.js';

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
