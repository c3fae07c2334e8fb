import { type ProcessExit } from '@switchyard/engine-api/process/child-process.js';
import { type ReplicaSpec } from '../../platform/config/model-spec.js';
import { type WorkerSpec } from '../../platform/config/worker-spec.js';
import { type ProcessLog } from '../../platform/logging/process-log.js';
import {
  ProcessSupervisor,
  type SupervisorOptions,
} from '../../platform/process/process-supervisor.js';
import {
  type InProcessWorker,
  type OpenInProcessWorker,
} from '../../worker-client/in-process-worker.js';

/** How local workers are started. Tests start another program. */
export interface WorkerLaunch {
  readonly command: string;
  readonly args: readonly string[];
  environment(spec: WorkerSpec, replica?: ReplicaSpec): NodeJS.ProcessEnv;
  /**
   * Between SIGTERM and SIGKILL at the end: by then no request is left, so a sound worker
   * needs no time at all.
   */
  readonly stopGraceMs: number;
  /** Workers that need no process; absent: each has one. */
  readonly inner?: OpenInProcessWorker | undefined;
}

/** Events of a worker's location. */
export interface LocationEvents {
  /** A process is being started. */
  onStarting(): void;
  /**
   * A process can be reached at host:port, or it is in this process; it may
   * still be loading.
   */
  onReachable(at: string | InProcessWorker): void;
  /** The process reports that it takes requests, so it is probed at once. */
  onReady(): void;
  /** The process has ended; another one may follow. Returns as `SupervisorEvents.onGone`. */
  onGone(): boolean | void;
}

/**
 * Where a worker runs: a process that the gateway supervises, the gateway's own, or
 * a remote address.
 */
export interface WorkerLocation {
  /** What is known of its processes: `ProcessSupervisor` has it. */
  readonly status: {
    readonly pid?: number | undefined;
    readonly restarts: number;
    readonly lastExit?: ProcessExit | undefined;
    /** A process runs that has not been ready yet. */
    readonly isStarting?: boolean;
    /** How the last process ended, or what is wrong with the one that runs. */
    readonly problem?: string | undefined;
    /** Why its last process could not start; undefined once another one is ready. */
    readonly startFailure?: string | undefined;
  };
  /** What a bridge reports of the worker behind it, while that takes no work. */
  readonly waiting?: string | undefined;
  /** Another gateway of this machine runs it. */
  readonly isElsewhere?: boolean;
  start(events: LocationEvents): void;
  /**
   * @param unready why a probe says that it takes no work; undefined: it takes work
   * @param isSound the worker answered, and is the right one
   */
  onProbe?(unready: string | undefined, isSound: boolean): void;
  /**
   * Ends its process and starts another one at once. Absent: the gateway does
   * not supervise it.
   */
  restart?(): void;
  /** The worker no longer answers its probes. */
  onHung(reason: string): void;
  /**
   * Resolves when its process has ended. Idempotent: the same promise.
   * @param graceMs before it is killed; absent: as it was configured
   */
  stop(graceMs?: number): Promise<void>;
}

interface ProcessLocationOptions extends Omit<SupervisorOptions, 'what' | 'unready'> {
  /**
   * Host part of the address of a worker of this build: each process reports its port,
   * and when it is ready.
   */
  readonly host: string;
  /**
   * Of a `foreign` program, which is told its port and reports nothing: it is probed
   * from its start.
   */
  readonly address?: () => string;
}

/** Lines of a program that starts are looked at together for so long: some write one after another. */
const LINES_MS = 200;

/**
 * A process of this machine, supervised: a worker of this build, or a program
 * in any language.
 */
export class ProcessLocation implements WorkerLocation {
  readonly status: ProcessSupervisor;
  waiting: string | undefined;
  /** What keeps its process from being ready. */
  #waitsFor: string | undefined;
  /** A probe of its process was answered. */
  #answers = false;
  #probe: NodeJS.Timeout | undefined;

  constructor(private readonly options: ProcessLocationOptions) {
    this.status = new ProcessSupervisor({
      ...options,
      what: 'worker',
      unready: () => this.#waitsFor,
    });
  }

  start(events: LocationEvents): void {
    const { host, address } = this.options;
    this.status.start({
      onStarting: () => events.onStarting(),
      onStarted: () => {
        if (!address) return;
        this.#wait();
        this.#answers = false;
        events.onReachable(address());
        events.onReady();
      },
      onLine: () => {
        if (address && this.status.isStarting) this.#probeSoon(events, address);
      },
      onMessage: ({ type, port, message, isProblem, isStarting }) => {
        if (isStarting === true || type === 'listening') this.status.progressed();
        if (type === 'listening' && typeof port === 'number') events.onReachable(`${host}:${port}`);
        if (type === 'waiting' && typeof message === 'string')
          this.#wait(message, isProblem === true);
      },
      onReady: () => {
        this.#wait();
        if (!address) events.onReady();
      },
      onGone: () => {
        if (!address) this.#wait();
        return events.onGone();
      },
    });
  }

  /**
   * It may listen by now, or be ready. gRPC pauses longer from try to try to connect, so one
   * that has not answered yet gets a new connection.
   */
  #probeSoon(events: LocationEvents, address: () => string): void {
    this.#probe ??= setTimeout(() => {
      this.#probe = undefined;
      if (!this.status.isStarting) return;
      if (!this.#answers) events.onReachable(address());
      events.onReady();
    }, LINES_MS).unref();
  }

  onProbe(unready: string | undefined, isSound: boolean): void {
    if (!this.options.address) return;
    if (isSound) this.status.progressed();
    this.#answers ||= isSound;
    this.#waitsFor = unready;
    if (unready === undefined) this.status.ready();
  }

  onHung(reason: string): void {
    this.status.kill(reason);
  }

  restart(): void {
    this.status.restart();
  }

  stop(graceMs?: number): Promise<void> {
    return this.status.stop(graceMs);
  }

  #wait(message?: string, isProblem = false): void {
    this.#waitsFor = message;
    this.waiting = isProblem ? message : undefined;
  }
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

  constructor(
    private readonly options: {
      open(): InProcessWorker;
      /** Pause after a start that failed: an operator may repair what it names. */
      readonly retryMs: number;
      readonly log: ProcessLog;
      onRestart(): void;
      onStartFailed(): void;
    },
  ) {}

  start(events: LocationEvents): void {
    this.#events = events;
    void this.#open(events);
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
    void this.#open(this.#events);
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.close();
  }

  async #open(events: LocationEvents): Promise<void> {
    const { log, retryMs } = this.options;
    const worker = this.options.open();
    this.#worker = worker;
    events.onStarting();
    events.onReachable(worker);
    let warnings: readonly string[] = [];
    let failure: string | undefined;
    try {
      warnings = await worker.load();
    } catch (error) {
      failure = (error as Error).message;
    }
    if (worker !== this.#worker) return;
    this.status.startFailure = this.status.problem = failure;
    for (const warning of warnings) log.say('warn', warning);
    if (failure === undefined) return events.onReady();
    log.say('warn', 'worker cannot start', { reason: failure, restartInMs: retryMs });
    void this.stop();
    events.onGone();
    this.options.onStartFailed();
    this.#timer = setTimeout(() => {
      this.status.restarts += 1;
      void this.#open(events);
    }, retryMs);
  }
}

/** A remote worker: assumed reachable, never started or killed by the gateway. */
export const remoteLocation = (address: string): WorkerLocation => ({
  status: { restarts: 0 },
  start(events) {
    events.onStarting();
    events.onReachable(address);
    events.onReady();
  },
  // Probes continue; the worker is ready again when one is answered.
  onHung: () => undefined,
  stop: () => Promise.resolve(),
});
