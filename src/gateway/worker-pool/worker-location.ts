import { type ProcessExit } from '../../platform/process/child-process.js';
import { ProcessSupervisor, type SupervisorOptions } from '../../platform/process/process-supervisor.js';

export interface LocalLocationOptions extends Omit<SupervisorOptions, 'what'> {
  /** Host part of the worker's address; each process reports its port. */
  readonly host: string;
}

/** A local worker: a supervised process that reports its port. */
export class LocalLocation implements WorkerLocation {
  readonly #supervisor: ProcessSupervisor;

  constructor(private readonly options: LocalLocationOptions) {
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

  start(events: LocationEvents): void {
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

/** Events of a worker's location. */
export interface LocationEvents {
  /** A process is being started. */
  onStarting(): void;
  /** A process can be reached at host:port; it may still be loading. */
  onReachable(address: string): void;
  /** It reports that it takes requests: probe it now. */
  onReady(): void;
  /** The process has ended; another one may follow. */
  onGone(): void;
}

/** Where a worker runs: a process that the gateway supervises, or a remote address. */
export interface WorkerLocation {
  readonly pid: number | undefined;
  readonly restarts: number;
  readonly lastExit: ProcessExit | undefined;
  start(events: LocationEvents): void;
  /** The worker no longer answers its probes. */
  onHung(reason: string): void;
  /** Resolves when its process has ended. Idempotent: the same promise. */
  stop(): Promise<void>;
}

/** A remote worker: assumed reachable, never started or killed by the gateway. */
export class RemoteLocation implements WorkerLocation {
  readonly pid = undefined;
  readonly restarts = 0;
  readonly lastExit = undefined;

  constructor(private readonly address: string) {}

  start(events: LocationEvents): void {
    events.onStarting();
    events.onReachable(this.address);
    events.onReady();
  }

  onHung(): void {
    // Probes continue; the worker is ready again when one is answered.
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }
}
