import { type RequestQueuePort } from '../../core/dispatch/request-queue.port.js';
import { type PriorityLabel, priorityLabel } from '../../core/request/request-priority.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { RequestLifecycle } from '../../core/request/request-lifecycle.js';
import { RetryBudget, type WorkerLostError } from '../../core/request/worker-lost.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import {
  type GenerationOutput,
  type SpeechSink,
  type WorkerReply,
  type WorkerTask,
} from '../worker-pool/worker-task.js';
import { OwnTimer } from '../../platform/process/own-timer.js';
import { type SettledRequest } from './submitted-request.js';

/**
 * One request from submission to settlement: its state, its queue, its caller, and whether it can still be sent again.
 */
export class TrackedRequest {
  readonly lifecycle: RequestLifecycle<WorkerTask, WorkerReply>;
  readonly settled: Promise<SettledRequest>;
  /** Monotonic milliseconds at which the first part of its answer went to its caller; absent: none has yet. */
  firstOutputAtMs: number | undefined;
  #resolve!: (settled: SettledRequest) => void;
  #outputStarted = false;
  /** The code that it fails with because workers were lost with it; undefined: none. */
  lossCode: ReturnType<RetryBudget['spend']>;
  readonly #retries = new RetryBudget();
  #lostMs = 0;
  #deadline: OwnTimer | undefined;

  constructor(
    request: ScheduledRequest<WorkerTask>,
    readonly queue: RequestQueuePort<WorkerTask, WorkerReply>,
  ) {
    const payload = this.#watchOutput(request.payload);
    this.lifecycle = new RequestLifecycle<WorkerTask, WorkerReply>({ ...request, payload });
    this.settled = new Promise(resolve => (this.#resolve = resolve));
  }

  get request(): ScheduledRequest<WorkerTask> {
    return this.lifecycle.request;
  }

  /** As its caller knows it; for display. */
  get id(): string {
    return this.request.id;
  }

  get key(): RequestKey {
    return this.request.key;
  }

  get priority(): PriorityLabel {
    return priorityLabel(this.request.priority);
  }

  /** True once speech or text has reached the caller: a second attempt would repeat it. */
  get outputStarted(): boolean {
    return this.#outputStarted;
  }

  /**
   * Its worker gave it back. Returns the request to queue again in its old place, or undefined when it cannot be sent
   * again.
   * @param lostMs how long that worker had it
   */
  retry(loss: WorkerLostError, lostMs: number): ScheduledRequest<WorkerTask> | undefined {
    this.lossCode = this.#retries.spend(this.lifecycle.workerId ?? '', loss);
    this.#lostMs += lostMs;
    if (this.lossCode !== undefined || this.#outputStarted) return undefined;
    const { request } = this;
    const { failedBy, mostTogether } = this.#retries;
    const lastStartMs = request.deadline === undefined ? Infinity : (request.latestStartMs ?? Infinity);
    const queueDeadlineMs = Math.min(request.queueDeadlineMs + this.#lostMs, lastStartMs);
    return { ...request, queueDeadlineMs, avoid: failedBy, mostTogether };
  }

  /** The inference deadline (D-07). Runs only while a worker has the request: time in the queue does not count. */
  startDeadline(onExpired: () => void, ms = this.request.inferenceTimeoutMs): void {
    this.#deadline = new OwnTimer(ms, onExpired);
    this.#deadline.restart();
  }

  stopDeadline(): void {
    this.#deadline?.stop();
  }

  /** Hands the answer to the caller. */
  answer(settled: SettledRequest): void {
    this.#resolve(settled);
  }

  #watchOutput(task: WorkerTask): WorkerTask {
    if (task.kind === 'synthesize') return { ...task, sink: this.#watchSpeech(task.sink) };
    if (task.kind === 'generate' && task.sink) return { ...task, sink: this.#watchText(task.sink) };
    return task;
  }

  #watchSpeech(sink: SpeechSink): SpeechSink {
    const header: typeof sink.header = header => {
      this.#outputStarted = true;
      sink.header(header);
    };
    return { header, audio: sink.audio };
  }

  #watchText(sink: GenerationOutput): GenerationOutput {
    const begin = (): void => {
      this.#outputStarted = true;
      sink.begin();
    };
    return { begin, chunks: sink.chunks };
  }
}
