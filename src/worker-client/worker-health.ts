import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import {
  decodeHealth,
  type HealthCheckResponse,
  type HealthResponse,
  SERVICE_NAMES,
  SERVING,
  type WorkerHealthReport,
} from '@switchyard/worker-protocol/health.codec.js';
import {
  type TrackedCall,
  type WorkerChannel,
} from '@switchyard/worker-protocol/worker-channel.js';
import { type ModelKind } from '../platform/config/model-spec.js';
import { WaitBudget } from '../platform/process/wait-budget.js';

/**
 * Both health services that a worker must have: the standard check of the empty service
 * name, and the worker's own report. Rejects with an error that names the one at fault.
 */
export async function probeWorker(
  channel: WorkerChannel,
  kind: ModelKind,
  timeoutMs: number,
): Promise<WorkerHealthReport> {
  const metadata = new Metadata();
  const ask = <T>(method: string, start: (done: Done<T>) => TrackedCall): Promise<T> => {
    let call: TrackedCall | undefined;
    const reply = channel.unary<T>(done => (call = start(done)));
    // A deadline of gRPC would count the time in which this process was late.
    const overdue = (): Error => {
      call?.cancel();
      return new Error(`${method} was not answered within ${timeoutMs} ms`);
    };
    return new WaitBudget(timeoutMs, overdue).spend(reply.catch(failureOf(method)));
  };
  const [{ status: serving }, health] = await Promise.all([
    ask<HealthCheckResponse>('grpc.health.v1.Health/Check of service ""', done =>
      channel.health.check({ service: '' }, metadata, done),
    ),
    ask<HealthResponse>(`${SERVICE_NAMES[kind]}/Health`, done =>
      channel.control(kind).health({}, metadata, done),
    ),
  ]);
  const { state, ...rest } = decodeHealth(health);
  return {
    ...rest,
    state: serving !== SERVING && state === 'ready' ? 'draining' : state,
  };
}

type Done<T> = (error: ServiceError | null, reply: T) => void;

const failureOf =
  (method: string) =>
  (error: Partial<ServiceError>): never => {
    const { code, message } = error;
    const missing = code === status.UNIMPLEMENTED || code === status.NOT_FOUND;
    throw new Error(
      `${method} failed: ${message}${missing ? '; every worker must serve it' : ''}`,
      { cause: error },
    );
  };

/** `probeWorker` found no worker at the address. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof Error &&
  (error.cause as Partial<ServiceError> | undefined)?.code === status.UNAVAILABLE;

/**
 * Answers in a row that report nothing to do, until a worker is left alone for
 * so many intervals.
 */
const QUIET_ANSWERS = 3;
const QUIET_INTERVALS = 10;

/** Probes of a worker that is away over one connection. */
const AWAY_PROBES = 2;

/**
 * Probes one worker: the next probe starts `intervalMs` after the last one ended,
 * whatever its outcome. Failures are counted in a row; one answer resets the count.
 */
export class WorkerHealth {
  #timer: NodeJS.Timeout | undefined;
  #failed = 0;
  #quiet = 0;
  #running = false;
  #stopped = false;
  /** The outcome of the running probe is out of date already. */
  #again = false;

  constructor(
    private readonly options: {
      readonly intervalMs: number;
      /**
       * A worker that does nothing is probed less often: for one whose end is noticed
       * without a probe.
       */
      readonly rests?: boolean;
      /** Failed probes in a row until `onUnhealthy`. */
      readonly failures: number;
      probe(): Promise<WorkerHealthReport>;
      onReport(report: WorkerHealthReport): void;
      /** Called at each failed probe. */
      onFailure(error: unknown): void;
      /** Called once per series of failures, after `onFailure`. */
      onUnhealthy(): void;
      /** It goes on to fail: the way to it may be another one by now. */
      onStillAway(): void;
    },
  ) {}

  /**
   * Probes now and from then on. A running probe began too early: its outcome is ignored,
   * and another follows at once.
   */
  probeNow(): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    if (this.#running) this.#again = true;
    else void this.#probe();
  }

  /** It is given work: from now on it is probed at the usual pace. */
  busy(): void {
    if (this.#quiet < QUIET_ANSWERS) return;
    this.#quiet = 0;
    if (this.#running) return;
    clearTimeout(this.#timer);
    this.#next();
  }

  /** For good; the outcome of a running probe is ignored. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  async #probe(): Promise<void> {
    this.#running = true;
    const outcome = await this.options.probe().catch((error: unknown) => ({ error }));
    this.#running = false;
    if (this.#stopped) return;
    if (!this.#again) {
      if ('error' in outcome) this.#failedWith(outcome.error);
      else this.#succeeded(outcome);
    }
    this.#next();
  }

  #succeeded(report: WorkerHealthReport): void {
    this.#failed = 0;
    this.#quiet =
      this.options.rests && report.state === 'ready' && report.inFlight === 0 ? this.#quiet + 1 : 0;
    this.options.onReport(report);
  }

  #failedWith(error: unknown): void {
    this.#failed += 1;
    this.#quiet = 0;
    this.options.onFailure(error);
    const beyond = this.#failed - this.options.failures;
    if (beyond === 0) this.options.onUnhealthy();
    else if (beyond > 0 && beyond % AWAY_PROBES === 0) this.options.onStillAway();
  }

  #next(): void {
    if (this.#stopped) return;
    const intervals = this.#quiet >= QUIET_ANSWERS ? QUIET_INTERVALS : 1;
    this.#timer = setTimeout(
      () => this.probeNow(),
      this.#again ? 0 : intervals * this.options.intervalMs,
    );
    this.#again = false;
  }
}
