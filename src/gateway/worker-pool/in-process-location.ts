import { type WorkerHealthReport } from '../../contracts/grpc/health.codec.js';
import { failureAcross } from '../../contracts/grpc/status.codec.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { WorkerLostError } from '../../core/request/worker-lost.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { type ProcessLog } from '../../platform/process/process-log.js';
import { type InProcessWorker } from './in-process-worker.js';
import { generateFields, TextReceiver } from './text-calls.js';
import { type CallRequest, lostCall, type WorkerCall } from './worker-call.js';
import { type WorkerLink } from './worker-link.js';
import { type LocationEvents, type WorkerLocation } from './worker-location.js';

/** Calls of a worker in this process, in place of a connection to a process. */
export class InProcessLink implements Omit<WorkerLink, 'address'> {
  readonly address = undefined;
  readonly #running = new Map<string, TextReceiver>();
  #retired = false;

  constructor(private readonly worker: InProcessWorker) {}

  execute(call: CallRequest): WorkerCall {
    const { key: requestId, payload } = call.request;
    if (this.#retired || payload.kind !== 'generate') return lostCall('in this process');
    const receiver = new TextReceiver(payload.sink);
    this.#running.set(requestId, receiver);
    const ended = receiver.receive(take => this.worker.generate(generateFields(call, payload), take));
    const finished = ended.then(
      () => void this.#running.delete(requestId),
      () => void this.#running.delete(requestId),
    );
    const reply = ended.catch((error: unknown) => {
      throw error instanceof WorkerLostError ? error : failureAcross(error);
    });
    // A caller that a deadline has settled no longer listens.
    reply.catch(() => undefined);
    return { reply, finished };
  }

  openStream(): never {
    throw new DomainError('worker_lost', 'A worker in this process has no live streams.');
  }

  cancel(key: RequestKey, reason: CancelReason): Promise<boolean> {
    this.#running.get(key)?.abandon();
    return Promise.resolve(this.worker.cancel(key, reason));
  }

  probe(): Promise<WorkerHealthReport> {
    return Promise.resolve(this.worker.report());
  }

  resetAll(reason: string): void {
    this.worker.abortAll(new WorkerLostError('abandoned', reason));
  }

  retire(): void {
    this.#retired = true;
  }

  abort(): void {
    this.retire();
    this.worker.abortAll(new DomainError('shutting_down', 'The worker is shutting down.'));
  }
}

interface InProcessLocationOptions {
  open(): InProcessWorker;
  /** Pause after a start that failed: an operator may repair what it names. */
  readonly retryMs: number;
  readonly log: ProcessLog;
  onRestart(): void;
  onStartFailed(): void;
}

/** In this process: nothing is supervised, since there is nothing that could die or hang alone. */
export class InProcessLocation implements WorkerLocation {
  readonly pid = undefined;
  readonly lastExit = undefined;
  restarts = 0;
  startFailure: string | undefined;
  #events: LocationEvents | undefined;
  #worker: InProcessWorker | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: InProcessLocationOptions) {}

  get problem(): string | undefined {
    return this.startFailure;
  }

  start(events: LocationEvents): void {
    this.#events = events;
    this.#open(events);
  }

  onHung(): void {
    // Its probe is a call within this process.
  }

  restart(): void {
    if (!this.#events) return;
    void this.stop();
    this.restarts += 1;
    this.options.onRestart();
    this.#events.onGone();
    this.#open(this.#events);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.close();
  }

  #open(events: LocationEvents): void {
    const worker = this.options.open();
    this.#worker = worker;
    events.onStarting();
    events.onReachable(worker);
    worker.load().then(
      warnings => this.#loaded(worker, warnings),
      (error: Error) => this.#failed(worker, error.message),
    );
  }

  #loaded(worker: InProcessWorker, warnings: readonly string[]): void {
    if (worker !== this.#worker) return;
    this.startFailure = undefined;
    for (const warning of warnings) this.options.log.say('warn', warning);
    this.#events?.onReady();
  }

  #failed(worker: InProcessWorker, reason: string): void {
    if (worker !== this.#worker || !this.#events) return;
    const { log, retryMs } = this.options;
    const events = this.#events;
    this.startFailure = reason;
    log.say('warn', 'worker cannot start', { reason, restartInMs: retryMs });
    void this.stop();
    events.onGone();
    this.options.onStartFailed();
    this.#timer = setTimeout(() => {
      this.restarts += 1;
      this.#open(events);
    }, retryMs);
  }
}
