import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { FairShare } from '../../core/jobs/fair-share.js';
import { Settings } from '../../platform/config/settings.js';
import { type LineLane, type LineTicket } from './line-lane.js';

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

/** Of all lines in flight: 100 of 8 MiB would be 800 MiB in memory. A larger line goes alone. */
const INFLIGHT_BYTES = 64 * 1024 * 1024;

/**
 * Chooses the next line among all jobs of the processor (D-18): fair turn, then the
 * model's slot, then a global slot.
 */
@Injectable()
export class LineDispatcher implements OnApplicationShutdown {
  readonly #share = new FairShare();
  readonly #lanes = new Map<string, { readonly lane: LineLane; readonly job: SendingJob }>();
  #inFlight = 0;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #pumping = false;

  constructor(private readonly settings: Settings) {}

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
    while (this.#inFlight < this.settings.batch.concurrency) {
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
    return this.#inFlight === 0 || this.#bytes + ticket.entry.length <= INFLIGHT_BYTES;
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
