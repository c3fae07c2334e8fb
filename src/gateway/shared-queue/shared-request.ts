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

/** A request whose job is lost more often than this fails. */
const MAX_REQUEUES = 10;

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
  #request: TaskRequest;
  #placed: PlacedJob | undefined;
  #isQueueing = false;
  #requeues = 0;
  #isReading = false;
  #result: { readonly blob: string | undefined } | undefined;
  #stopped: StopReason | undefined;
  #leasedAtMs: number | undefined;
  #queueDeadlineMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    request: TaskRequest,
    readonly reports: QueueReports,
    readonly ref: JobRef,
  ) {
    const { payload } = request;
    this.#request = request;
    this.relay = payload.kind === 'synthesize' ? new SpeechRelay(payload.sink) : undefined;
    this.#queueDeadlineMs = request.queueDeadlineMs;
  }

  get request(): TaskRequest {
    return this.#request;
  }

  /** Undefined: it is not accepted yet. */
  get placed(): PlacedJob | undefined {
    return this.#placed;
  }

  /** Its job is being queued from here: that there is none yet does not say that it is gone. */
  get isQueueing(): boolean {
    return this.#isQueueing;
  }

  /** Blob of its result, once a worker has answered it. */
  get result(): { readonly blob: string | undefined } | undefined {
    return this.#result;
  }

  /** Why its job was stopped from here. */
  get stopped(): StopReason | undefined {
    return this.#stopped;
  }

  /** Monotonic milliseconds at which its worker took it; undefined while it waits. */
  get leasedAtMs(): number | undefined {
    return this.#leasedAtMs;
  }

  /** Accepted, and no worker has it. */
  get isWaiting(): boolean {
    return this.#placed !== undefined && this.#leasedAtMs === undefined;
  }

  accepted(placed: PlacedJob): void {
    this.#placed = placed;
  }

  /** `queue` sends the commands that queue its job: until the last one it may be there or not. */
  async queueing<T>(queue: () => Promise<T>): Promise<T> {
    this.#isQueueing = true;
    try {
      return await queue();
    } finally {
      this.#isQueueing = false;
    }
  }

  /** @returns false if its job was lost too often to be queued again */
  mayRequeue(): boolean {
    this.#requeues += 1;
    return this.#requeues <= MAX_REQUEUES;
  }

  /** Its result is to be read from the blob store. @returns false if that was begun before */
  beginReading(): boolean {
    const isFirst = !this.#isReading;
    this.#isReading = true;
    return isFirst;
  }

  /** It may be begun again. */
  readingFailed(): void {
    this.#isReading = false;
  }

  /** @param blob of its result, if it has one */
  answered(blob: string | undefined): void {
    this.#result = { blob };
  }

  stop(reason: StopReason): void {
    this.#stopped = reason;
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
    this.#leasedAtMs = nowMs;
    this.relay?.open();
  }

  /** While it waits. */
  reprioritized(label: PriorityLabel): void {
    const placed = this.#placed;
    const request = { ...this.#request, priority: priorityLevel(label) };
    this.#request = request;
    if (placed) this.#placed = { ...placed, job: { ...placed.job, priority: label } };
    this.reports.reprioritized(request.key, request.priority);
  }

  /**
   * Only waiting counts against the queue deadline, not the time that the dead worker
   * had the request.
   */
  requeued(nowMs: number): void {
    const { deadline, latestStartMs = Infinity } = this.#request;
    this.#queueDeadlineMs += nowMs - (this.#leasedAtMs ?? nowMs);
    if (deadline !== undefined)
      this.#queueDeadlineMs = Math.min(this.#queueDeadlineMs, latestStartMs);
    this.#leasedAtMs = undefined;
  }
}
