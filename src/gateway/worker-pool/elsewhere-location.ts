import { type LocationEvents, type WorkerLocation } from './worker-location.js';

/** A local worker that another gateway of this machine runs, as it announces itself. */
export interface WorkerElsewhere {
  /** As its gateway calls it: `MODEL-0`. */
  readonly workerId: string;
  readonly pid: number;
  /** host:port */
  readonly address: string;
  /** Callers must send it. */
  readonly token: string;
  /** `WorkerHealthReport.state` */
  readonly state: string;
}

/** The process of such a worker, while it announces itself; then the next one. */
export class ElsewhereLocation implements WorkerLocation {
  readonly isElsewhere = true;
  #events: LocationEvents | undefined;

  constructor(private worker: WorkerElsewhere) {}

  get status() {
    return { pid: this.worker.pid, restarts: 0 };
  }

  get token(): string {
    return this.worker.token;
  }

  start(events: LocationEvents): void {
    this.#events = events;
    events.onStarting();
    events.onReachable(this.worker.address);
    events.onReady();
  }

  /** Takes over what it announces now. */
  update(worker: WorkerElsewhere): void {
    const { pid, state } = this.worker;
    this.worker = worker;
    if (!this.#events) return;
    if (worker.pid !== pid) this.start(this.#events);
    else if (worker.state !== state) this.#events.onReady();
  }

  onHung(): void {
    // Its own gateway ends it.
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}
