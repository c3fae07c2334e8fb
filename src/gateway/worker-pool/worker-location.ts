import { type CommandValues, filledIn } from '../../platform/config/worker-fields.js';
import { type ProcessExit } from '../../platform/process/child-process.js';
import { freePort } from '../../platform/process/listen-check.js';
import { ProcessSupervisor, type SupervisorOptions } from '../../platform/process/process-supervisor.js';
import { type InProcessWorker } from './in-process-worker.js';

export interface LocalLocationOptions extends Omit<SupervisorOptions, 'what'> {
  /** Host part of the worker's address; each process reports its port. */
  readonly host: string;
}

/** A process of this machine, supervised. */
abstract class SupervisedLocation implements WorkerLocation {
  protected readonly supervisor: ProcessSupervisor;
  /** What keeps its process from being ready. */
  protected waitsFor: string | undefined;

  constructor(options: Omit<SupervisorOptions, 'what' | 'unready'>) {
    this.supervisor = new ProcessSupervisor({ ...options, what: 'worker', unready: () => this.waitsFor });
  }

  get pid(): number | undefined {
    return this.supervisor.pid;
  }

  get restarts(): number {
    return this.supervisor.restarts;
  }

  get lastExit(): ProcessExit | undefined {
    return this.supervisor.lastExit;
  }

  get problem(): string | undefined {
    return this.supervisor.problem;
  }

  get startFailure(): string | undefined {
    return this.supervisor.startFailure;
  }

  abstract start(events: LocationEvents): void;

  onHung(reason: string): void {
    this.supervisor.kill(reason);
  }

  restart(): void {
    this.supervisor.restart();
  }

  stop(): Promise<void> {
    return this.supervisor.stop();
  }
}

/** A worker of this build: a process that reports its port, when it is ready, and what it waits for if it bridges. */
export class LocalLocation extends SupervisedLocation {
  #told: string | undefined;

  constructor(private readonly options: LocalLocationOptions) {
    super(options);
  }

  override get problem(): string | undefined {
    return this.#told ?? super.problem;
  }

  start(events: LocationEvents): void {
    this.supervisor.start({
      onStarting: () => events.onStarting(),
      onMessage: ({ type, port, message, isProblem }) => {
        if (type === 'listening' && typeof port === 'number') events.onReachable(`${this.options.host}:${port}`);
        if (type === 'waiting' && typeof message === 'string') this.#wait(message, isProblem === true);
      },
      onReady: () => {
        this.#wait();
        events.onReady();
      },
      onGone: () => {
        this.#wait();
        events.onGone();
      },
    });
  }

  #wait(message?: string, isProblem = false): void {
    this.waitsFor = message;
    this.#told = isProblem ? message : undefined;
  }
}

export interface CommandLocationOptions extends Omit<SupervisorOptions, 'what' | 'command' | 'args' | 'foreign'> {
  /** Program and arguments, not filled in. */
  readonly command: readonly string[];
  readonly values: Omit<CommandValues, 'port'>;
}

/** A worker in any language: told its port by its arguments, probed from its start, ready when its Health says so. */
export class CommandLocation extends SupervisedLocation {
  #address = '';

  constructor({ command: [program = '', ...args], values, ...rest }: CommandLocationOptions) {
    super({
      ...rest,
      command: filledIn(program, { ...values, port: '' }),
      foreign: true,
      args: async () => {
        const port = String(await freePort(values.host));
        this.#address = `${values.host}:${port}`;
        return args.map(argument => filledIn(argument, { ...values, port }));
      },
    });
  }

  get isStarting(): boolean {
    return this.supervisor.isStarting;
  }

  start(events: LocationEvents): void {
    this.supervisor.start({
      onStarting: () => events.onStarting(),
      onStarted: () => {
        this.waitsFor = undefined;
        events.onReachable(this.#address);
        events.onReady();
      },
      onMessage: () => undefined,
      onReady: () => undefined,
      onGone: () => events.onGone(),
    });
  }

  onProbe(unready: string | undefined): void {
    this.waitsFor = unready;
    if (unready === undefined) this.supervisor.ready();
  }
}

/** Events of a worker's location. */
export interface LocationEvents {
  /** A process is being started. */
  onStarting(): void;
  /** A process can be reached at host:port, or it is in this process; it may still be loading. */
  onReachable(at: string | InProcessWorker): void;
  /** It reports that it takes requests: probe it now. */
  onReady(): void;
  /** The process has ended; another one may follow. */
  onGone(): void;
}

/** Where a worker runs: a process that the gateway supervises, the gateway's own, or a remote address. */
export interface WorkerLocation {
  readonly pid: number | undefined;
  readonly restarts: number;
  readonly lastExit: ProcessExit | undefined;
  /** Why no process of it takes work, as far as its processes tell. */
  readonly problem?: string | undefined;
  /** A program that is not ours runs and has not been ready yet: its answers do not count. */
  readonly isStarting?: boolean;
  /** Why its last process could not start; undefined once another one is ready. */
  readonly startFailure?: string | undefined;
  start(events: LocationEvents): void;
  /** @param unready why a probe says that it takes no work; undefined: it takes work */
  onProbe?(unready: string | undefined): void;
  /** Ends its process and starts another one at once. Absent: the gateway does not supervise it. */
  restart?(): void;
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
