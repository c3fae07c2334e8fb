import { type PriorityLabel, priorityLabel } from '../../core/request/request-priority.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { RequestLifecycle } from '../../core/request/request-lifecycle.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { type LossKind, RetryBudget } from '../../core/request/worker-lost.js';
import { type ScheduledRequest } from '../../core/request/scheduled-request.js';
import { type GenerationSink, type SpeechSink, type WorkerReply, type WorkerTask } from '../worker-pool/worker-task.js';
import { type SettledRequest } from './submitted-request.js';

/** Where a request waits that is not in the queue of this gateway. */
export interface RemoteLine {
  /** Takes it out, or tells the worker that has it. Never rejects. */
  stop(reason: CancelReason): Promise<unknown>;
}

/** One accepted request while it runs: its state, its caller, and whether it can still be sent again. */
export class TrackedRequest {
  readonly lifecycle: RequestLifecycle<WorkerTask, WorkerReply>;
  readonly settled: Promise<SettledRequest>;
  readonly priority: PriorityLabel;
  /** Absent: this gateway's own queue has it, or a worker that was sent it. */
  line?: RemoteLine;
  #resolve!: (settled: SettledRequest) => void;
  #outputStarted = false;
  readonly #retries = new RetryBudget();
  #lostMs = 0;

  constructor(request: ScheduledRequest<WorkerTask>) {
    const payload = this.#watchOutput(request.payload);
    this.lifecycle = new RequestLifecycle<WorkerTask, WorkerReply>({ ...request, payload });
    this.priority = priorityLabel(request.priority);
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

  /** True once speech or text has reached the caller: sending the request again would say everything twice. */
  get outputStarted(): boolean {
    return this.#outputStarted;
  }

  /**
   * Its worker gave it back. Returns the request to queue again, with its old place, or undefined when it cannot be sent again.
   * @param lostMs how long that worker had it
   */
  retry(kind: LossKind, lostMs: number): ScheduledRequest<WorkerTask> | undefined {
    const maySend = this.#retries.spend(this.lifecycle.workerId ?? '', kind);
    this.#lostMs += lostMs;
    if (!maySend || this.#outputStarted) return undefined;
    const { request } = this;
    const queueDeadlineMs = request.queueDeadlineMs + this.#lostMs;
    return { ...request, queueDeadlineMs, avoid: this.#retries.failedBy };
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

  #watchText(sink: GenerationSink): GenerationSink {
    const begin = (): void => {
      this.#outputStarted = true;
      sink.begin();
    };
    return { begin, chunks: sink.chunks };
  }
}
