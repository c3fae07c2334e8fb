import { type ProcessLog } from '../../platform/process/process-log.js';
import { type InProcessWorker } from './in-process-worker.js';
import { type LocationEvents, type WorkerLocation } from './worker-location.js';

interface InProcessLocationOptions {
  open(): InProcessWorker;
  /** Pause after a start that failed: an operator may repair what it names. */
  readonly retryMs: number;
  readonly log: ProcessLog;
  onRestart(): void;
  onStartFailed(): void;
}

/**
 * In this process: nothing is supervised, since there is nothing that could die
 * or hang alone.
 */
export class InProcessLocation implements WorkerLocation {
  /** `problem` is why it could not start. */
  readonly status: { restarts: number; startFailure?: string; problem?: string } = {
    restarts: 0,
  };
  #events: LocationEvents | undefined;
  #worker: InProcessWorker | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: InProcessLocationOptions) {}

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
    this.status.restarts += 1;
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
    this.#explain(undefined);
    for (const warning of warnings) this.options.log.say('warn', warning);
    this.#events?.onReady();
  }

  #failed(worker: InProcessWorker, reason: string): void {
    if (worker !== this.#worker || !this.#events) return;
    const { log, retryMs } = this.options;
    const events = this.#events;
    this.#explain(reason);
    log.say('warn', 'worker cannot start', { reason, restartInMs: retryMs });
    void this.stop();
    events.onGone();
    this.options.onStartFailed();
    this.#timer = setTimeout(() => {
      this.status.restarts += 1;
      this.#open(events);
    }, retryMs);
  }
  #explain(failure: string | undefined): void {
    this.status.startFailure = failure;
    this.status.problem = failure;
  }
}
