import { type ProcessExit } from '../../platform/process/child-process.js';
import { ProcessSupervisor, type SupervisorOptions } from '../../platform/process/process-supervisor.js';
import { type HomeEvents, type WorkerLocation } from './worker-home.js';

export interface WorkerSupervisorOptions extends Omit<SupervisorOptions, 'what'> {
  /** Host part of the worker's address; the port is told by each process. */
  readonly host: string;
}

/** A local worker: a process that is kept running, and says where it can be reached. */
export class WorkerSupervisor implements WorkerLocation {
  readonly #supervisor: ProcessSupervisor;

  constructor(private readonly options: WorkerSupervisorOptions) {
    this.#supervisor = new ProcessSupervisor({ ...options, what: 'worker' });
  }

  get pid(): number | undefined {
    return this.#supervisor.pid;
  }

  get restarts(): number {
    return this.#supervisor.restarts;
  }

  get lastExit(): ProcessExit | undefined {
    return this.#supervisor.lastExit;
  }

  start(events: HomeEvents): void {
    this.#supervisor.start({
      onStarting: () => events.onStarting(),
      onMessage: ({ type, port }) => {
        if (type === 'listening' && typeof port === 'number') events.onReachable(`${this.options.host}:${port}`);
      },
      onReady: () => events.onReady(),
      onGone: () => events.onGone(),
    });
  }

  onHung(reason: string): void {
    this.#supervisor.kill(reason);
  }

  stop(): Promise<void> {
    return this.#supervisor.stop();
  }
}
