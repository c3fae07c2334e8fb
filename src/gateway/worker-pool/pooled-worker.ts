import { type StreamConfig } from '@switchyard/worker-protocol/call.codec.js';
import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import { type Lease } from '../../core/dispatch/lease.js';
import { type SlotLedger } from '../../core/dispatch/slot-ledger.js';
import { type SlotCredit, type WorkerOffer } from '../../core/dispatch/worker.port.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { workerCare } from '../../platform/config/worker-spec.js';
import { type ProcessLog } from '../../platform/logging/process-log.js';
import { type InProcessWorker } from '../../worker-client/in-process-worker.js';
import { type StreamHandle } from '../../worker-client/stream-handle.js';
import { type CallRequest, type WorkerCall } from '../../worker-client/worker-call.js';
import { WorkerConnection } from '../../worker-client/worker-connection.js';
import { isUnreachable } from '../../worker-client/worker-health.js';
import { CircuitBreaker } from './circuit-breaker.js';
import { LastReport } from './last-report.js';
import { type WorkerLocation } from './worker-location.js';
import { type WorkerOwner, type WorkerPlace } from './worker-owner.js';
import {
  eventOf,
  phaseAfter,
  PHASES,
  shownStatus,
  type WorkerEvent,
  type PoolPhase,
} from './worker-phase.js';
import { isReady, type WorkerOrder, type WorkerView } from './worker-view.js';

const NO_SLOTS = { total: 0, free: 0, inUse: 0 };
const UNCONNECTED = { slots: NO_SLOTS, streams: NO_SLOTS, address: undefined };

/**
 * One configured worker through all its processes. Its phases: `worker-phase.ts`.
 *
 * Who writes what: the phase changes in `#on` only, by the events of its location, its
 * connection and operators. The connection is replaced when a process can be reached and
 * dropped when it is gone; leases and calls belong to one connection and end with it.
 * Who ends it: its model, by `drained` and then `close`, when the pool closes or a remote
 * worker leaves its address record; from `drained` on no event brings it back.
 */
export class PooledWorker {
  readonly id: string;
  #phase: PoolPhase = 'stopped';
  #connection: WorkerConnection | undefined;
  readonly #report: LastReport;
  /** An operator took it out of service, through all its processes. */
  #held: 'drain' | 'restart' | undefined;
  readonly #drained = Promise.withResolvers<void>();
  readonly #breaker: CircuitBreaker;

  constructor(
    readonly options: WorkerOwner &
      WorkerPlace & {
        /** It takes requests from the shared queue by itself. */
        readonly pulls: boolean;
        /** It does, or other gateways send requests to it: it alone knows when nothing runs. */
        readonly isShared: boolean;
        readonly location: WorkerLocation;
        readonly log: ProcessLog;
      },
  ) {
    this.id = options.id;
    this.#report = new LastReport(options);
    this.#breaker = new CircuitBreaker(options.settings.workers, options.onCapacity);
  }

  get state(): WorkerView['state'] {
    const { inUse } = this.#connection?.slots ?? NO_SLOTS;
    return shownStatus(this.#phase, this.#breaker.state, inUse);
  }

  /** True from `drained` or `close` on: no event brings it back. */
  get isClosing(): boolean {
    return this.#phase === 'closing';
  }

  /** It may get a request that it gave back: it has answered others since. */
  get isTrusted(): boolean {
    return this.#breaker.isTrusted;
  }

  /** Leases out and live streams. */
  get running(): number {
    return this.#connection?.running ?? 0;
  }

  /** Places for live streams. Undefined while it takes none. */
  get streams(): SlotLedger | undefined {
    return isReady(this) ? this.#connection?.streams : undefined;
  }

  /** Undefined while it takes no requests. */
  get slots(): SlotLedger | undefined {
    return PHASES[this.#phase].offers ? this.#connection?.slots : undefined;
  }

  start(): void {
    this.options.location.start({
      onStarting: () => this.#on('started'),
      onReachable: at => this.#connect(at),
      onReady: () => this.#connection?.health.probeNow(),
      onGone: () => {
        const isExcused = this.#connection?.slots.latestAlone ?? false;
        this.#disconnect();
        this.#on('ended');
        if (this.#held === 'restart') this.#held = undefined;
        return isExcused;
      },
    });
  }

  /** Undefined unless it is ready with a slot, if only for REALTIME or for one trial request. */
  offer(mostTogether?: number): WorkerOffer | undefined {
    const slots = this.#connection?.slots;
    if (!slots || !PHASES[this.#phase].offers) return undefined;
    const { free, urgent } = slots.creditsFor(mostTogether);
    if (urgent === 0) return undefined;
    return this.#breaker.limit({
      workerId: this.id,
      free,
      urgent,
      idle: slots.inUse === 0,
      maxBatch: this.#report.health?.maxBatch ?? 1,
      total: slots.total,
      latencyMs: this.#breaker.latencyMs,
    });
  }

  /** @throws Error when fewer than `count` slots of that credit are left. */
  lease(count: number, credit: SlotCredit, mostTogether?: number): readonly Lease[] {
    if (!this.#connection) throw new Error(`worker ${this.id} has no process`);
    const { health, slots } = this.#connection;
    health.busy();
    const leases = slots.lease(count, credit, mostTogether);
    return this.#breaker.state === 'half_open' ? this.#breaker.trials(leases) : leases;
  }

  /** @returns undefined when it has no process */
  execute(request: CallRequest): WorkerCall | undefined {
    const connection = this.#connection;
    if (!connection) return undefined;
    const call = connection.execute(request);
    void this.#follow(call, connection);
    return call;
  }

  /**
   * Its place is released when the worker ends it. @throws DomainError `worker_lost`;
   * Error without a free place.
   */
  openStream(config: StreamConfig): StreamHandle {
    const connection = this.#connection;
    if (!connection) throw new Error(`worker ${this.id} has no process`);
    const [lease] = connection.streams.lease(1);
    connection.health.busy();
    const stream = connection.openStream(config);
    void stream.finished.then(() => lease?.release());
    return stream;
  }

  /** Never rejects. @returns undefined when it has no process */
  cancel(key: RequestKey, reason: CancelReason): Promise<boolean> | undefined {
    return this.#connection?.cancel(key, reason);
  }

  /** Idempotent. @returns false, without effect: this gateway does not run its process */
  order(order: WorkerOrder): boolean {
    if (this.isClosing) return true;
    const { location } = this.options;
    if (location.isElsewhere || (order === 'restart' && !location.restart)) return false;
    this.#held = order === 'resume' ? undefined : order;
    if (this.#held) this.#on('withdrawn');
    this.#restartWhenIdle();
    this.#connection?.health.probeNow();
    return true;
  }

  /**
   * Drains for good. Resolves when nothing runs any more, or the process has ended: only a
   * process that others use, too, knows when to end. Probes continue, so that a hanging worker
   * is detected.
   */
  async drained(): Promise<void> {
    this.#on('closed');
    this.#onReturn();
    await this.#drained.promise;
    const { isShared, location } = this.options;
    if (isShared && !location.status.isStarting) await location.stop(Infinity);
  }

  /** Ends remaining calls, then the worker if it is local, then the channel. */
  async close(): Promise<void> {
    this.#on('closed');
    this.#breaker.clear();
    this.#connection?.abort();
    await this.options.location.stop();
    this.#disconnect();
  }

  view(): WorkerView {
    const { location, model, device } = this.options;
    const { status } = location;
    const { slots, streams, address } = this.#connection ?? UNCONNECTED;
    return {
      id: this.id,
      model: model.id,
      state: this.state,
      slots: { total: slots.total, free: slots.free, inUse: slots.inUse },
      streams: this.#phase === 'ready' ? streams.total : 0,
      streamsInUse: streams.inUse,
      drained: this.#held !== undefined,
      restarts: status.restarts,
      address,
      pid: status.pid,
      device: this.#report.health?.device || device,
      lastExit: status.lastExit,
      problem: this.#report.problem ?? location.waiting ?? status.problem ?? this.#breaker.problem,
      breaker: this.#breaker.state === 'closed' ? undefined : this.#breaker.state,
      health: this.#report.health,
    };
  }

  async #follow({ reply }: WorkerCall, connection: WorkerConnection): Promise<void> {
    const { clock, executed, model } = this.options;
    const startedAtMs = clock.nowMs();
    try {
      const { execution } = await reply;
      this.#breaker.answered(clock.nowMs() - startedAtMs);
      executed.next({ model: model.id, execution });
    } catch (error) {
      if (connection === this.#connection && this.#breaker.failed(error))
        this.#onDraining(error as Error);
    }
  }

  #connect(at: string | InProcessWorker): void {
    this.#disconnect();
    this.#report.clear();
    const { model, isRemote, settings, location } = this.options;
    this.#connection = new WorkerConnection({
      at,
      kind: model.kind,
      care: workerCare(settings),
      isSupervised: !isRemote && !location.isElsewhere,
      security: this.options.security(),
      events: {
        onReport: report => this.#onReport(report),
        onProbeFailure: error => this.#onProbeFailure(error),
        onUnhealthy: () => this.#onUnhealthy(),
        onConnectionLost: () => this.#onConnectionLost(),
        onUnended: () => this.#onUnended(),
        onCapacity: this.options.onCapacity,
        onReturn: () => {
          this.options.onReturn();
          this.#onReturn();
        },
      },
    });
    this.#on('started');
  }

  #onReport(report: WorkerHealthReport): void {
    const { id, model, replica, location, activity } = this.options;
    const { isSound, unready } = this.#report.take(report);
    location.onProbe?.(unready, isSound);
    if (isSound && report.generation && this.#connection) {
      const counts = this.#connection.generated(report.generation);
      activity.next({ type: 'generated', worker: id, model: model.id, counts });
    }
    this.#on(eventOf(report, isSound, this.#held !== undefined));
    if (PHASES[this.#phase].offers) this.#connection?.resize(report, replica.role);
  }

  /** A worker that does not answer gets no further requests; its running ones may still succeed. */
  #onProbeFailure(error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error);
    const { location } = this.options;
    location.onProbe?.(problem, false);
    // A program that has just been started opens its port when it can.
    if (location.status.isStarting && isUnreachable(error)) return;
    this.#report.explain(problem);
    this.#on('silent');
  }

  #onUnhealthy(): void {
    const { location, settings } = this.options;
    if (location.status.isStarting) return;
    const reason = `${settings.workers.healthFailures} health probes failed in a row`;
    this.#on('hung');
    this.#connection?.resetAll(reason);
    location.onHung(reason);
  }

  #onConnectionLost(): void {
    if (this.#phase !== 'ready') return;
    this.#breaker.note('the connection broke');
    this.#on('disconnected');
    this.#connection?.health.probeNow();
  }

  #onUnended(): void {
    const { resetAfterMs } = this.options.settings.cancellation;
    this.#breaker.note(`it did not end a cancelled call within ${resetAfterMs} ms`);
    this.options.log.say(
      'warn',
      `a cancelled call did not end within ${resetAfterMs} ms and was reset`,
    );
  }

  /**
   * An answer reports that the worker drains, before a probe does. A group that is refused
   * together is one failure.
   */
  #onDraining({ message }: Error): void {
    if (this.#phase !== 'ready') return;
    const problem = `it accepts no requests: ${message}`;
    this.#breaker.note(problem);
    this.#report.explain(problem);
    this.#on('withdrawn');
    this.#connection?.health.probeNow();
  }

  #disconnect(): void {
    this.#breaker.clear();
    this.#connection?.retire();
    this.#connection = undefined;
    this.#onReturn();
  }

  #onReturn(): void {
    if (this.#phase === 'closing' && this.running === 0) this.#drained.resolve();
    if (this.#connection && this.#held === 'restart') this.#restartWhenIdle();
  }

  #restartWhenIdle(): void {
    if (this.#held !== 'restart' || this.running > 0) return;
    this.options.location.restart?.();
    if (!this.#connection) this.#held = undefined;
  }

  /** Changes the phase. Outside of phases that offer slots, none can be leased. */
  #on(event: WorkerEvent): void {
    const phase = phaseAfter(this.#phase, event);
    if (phase === this.#phase) return;
    this.#phase = phase;
    if (!PHASES[phase].offers) this.#connection?.slots.resize(0);
    this.options.log.say(PHASES[phase].level, `worker ${this.isClosing ? 'draining' : phase}`);
  }
}
