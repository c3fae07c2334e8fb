import { type StopReason } from '../../contracts/queue-jobs/queue-messages.js';
import { type QueueReports } from '../../core/dispatch/request-queue.port.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type WorkerReply, type WorkerTask } from '../worker-pool/worker-task.js';
import { type JobRef } from './model-queues.js';
import { type PlacedJob } from './payload-blobs.js';
import { SpeechRelay } from './speech-relay.js';

/** Node fires a longer timer at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface SharedRequestOptions {
  readonly request: ScheduledRequest<WorkerTask>;
  readonly reports: QueueReports<WorkerReply>;
  readonly ref: JobRef;
  readonly placed: PlacedJob;
}

/** One accepted request of this gateway whose job is in Redis: where it stands, and its queue deadline (D-07). */
export class SharedRequest {
  request: ScheduledRequest<WorkerTask>;
  readonly reports: QueueReports<WorkerReply>;
  readonly ref: JobRef;
  readonly placed: PlacedJob;
  /** Speech goes to its listener while it is made; undefined for other work. */
  readonly relay: SpeechRelay | undefined;
  /** Blob of its result, once a worker has completed it. */
  result: { readonly blob: string | undefined } | undefined;
  /** Why its job was stopped from here. */
  stopped: StopReason | undefined;
  #leasedAtMs: number | undefined;
  #queueDeadlineMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor({ request, reports, ref, placed }: SharedRequestOptions) {
    this.request = request;
    this.reports = reports;
    this.ref = ref;
    this.placed = placed;
    const { payload } = request;
    this.relay = payload.kind === 'synthesize' ? new SpeechRelay(payload.sink) : undefined;
    this.#queueDeadlineMs = request.queueDeadlineMs;
  }

  /** Monotonic milliseconds at which its worker took it; undefined while it waits. */
  get leasedAtMs(): number | undefined {
    return this.#leasedAtMs;
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

  /** Only waiting counts against the queue deadline, not the time that the dead worker had the request. */
  requeued(nowMs: number): void {
    const { deadline, latestStartMs = Infinity } = this.request;
    this.#queueDeadlineMs += nowMs - (this.#leasedAtMs ?? nowMs);
    if (deadline !== undefined) this.#queueDeadlineMs = Math.min(this.#queueDeadlineMs, latestStartMs);
    this.#leasedAtMs = undefined;
  }
}
