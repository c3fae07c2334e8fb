import { randomUUID } from 'node:crypto';
import { type JobRef } from '@switchyard/shared-queue/client/model-queues.js';
import { type PriorityLabel, priorityLevel } from '../../core/request/request-priority.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { type TaskRequest } from '../../worker-client/worker-task.js';
import { type QueueReports } from '../registry/request-queue.port.js';
import { type PlacedJob } from './payload-blobs.js';
import { SpeechRelay } from './speech-relay.js';

/** Why a job is stopped; `queue_timeout`: no worker took it in time (D-07). */
export type StopReason = CancelReason | 'queue_timeout';

/** Node fires a longer timer at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * One request of this gateway whose job is, or will be, in Redis: where it stands, and
 * its queue deadline (D-07). Entering → accepted → its job is watched.
 */
export class SharedRequest {
  /** Names this gateway's attempt at the request (D-56). */
  readonly attempt = randomUUID();
  /** Ends it while it is entering. */
  readonly entering = new AbortController();
  /** Speech goes to its listener while it is made; undefined for other work. */
  readonly relay: SpeechRelay | undefined;
  /** Undefined: it is not accepted yet. */
  placed: PlacedJob | undefined;
  /** It is being queued from here: that there is no job yet does not say that it is gone. */
  queueing = false;
  /** How often it was queued again because its job was gone. */
  requeues = 0;
  /** Its result is being read from the blob store. */
  loading = false;
  /** Blob of its result, once a worker has completed it. */
  result: { readonly blob: string | undefined } | undefined;
  /** Why its job was stopped from here. */
  stopped: StopReason | undefined;
  /** Monotonic milliseconds at which its worker took it; undefined while it waits. */
  leasedAtMs: number | undefined;
  #queueDeadlineMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    public request: TaskRequest,
    readonly reports: QueueReports,
    readonly ref: JobRef,
  ) {
    const { payload } = request;
    this.relay = payload.kind === 'synthesize' ? new SpeechRelay(payload.sink) : undefined;
    this.#queueDeadlineMs = request.queueDeadlineMs;
  }

  /** Accepted, and no worker has it. */
  get isWaiting(): boolean {
    return this.placed !== undefined && this.leasedAtMs === undefined;
  }

  startQueueDeadline(nowMs: number, onExpired: () => void): void {
    const delayMs = Math.min(Math.max(0, this.#queueDeadlineMs - nowMs), MAX_TIMER_MS);
    this.#timer = setTimeout(onExpired, delayMs);
  }

  stopQueueDeadline(): void {
    clearTimeout(this.#timer);
  }

  leased(nowMs: number): void {
    this.stopQueueDeadline();
    this.leasedAtMs = nowMs;
    this.relay?.open();
  }

  /** While it waits. */
  reprioritized(label: PriorityLabel): void {
    const { request, placed } = this;
    this.request = { ...request, priority: priorityLevel(label) };
    if (placed) this.placed = { ...placed, job: { ...placed.job, priority: label } };
    this.reports.reprioritized(request.key, this.request.priority);
  }

  /**
   * Only waiting counts against the queue deadline, not the time that the dead worker
   * had the request.
   */
  requeued(nowMs: number): void {
    const { deadline, latestStartMs = Infinity } = this.request;
    this.#queueDeadlineMs += nowMs - (this.leasedAtMs ?? nowMs);
    if (deadline !== undefined)
      this.#queueDeadlineMs = Math.min(this.#queueDeadlineMs, latestStartMs);
    this.leasedAtMs = undefined;
  }
}
