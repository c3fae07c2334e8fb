import { type WorkerHealthReport } from '../../contracts/grpc/health.codec.js';
import { type StreamConfig } from '../../contracts/grpc/stream.codec.js';
import { type SlotCredit } from '../../core/dispatch/worker.port.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { type Lease } from '../../core/shared/lease.js';
import { type LogRing } from '../../platform/logging/log-ring.js';
import { type PooledWorkerOptions } from './pooled-worker-options.js';
import { isUpstreamAway, reportProblem, whyNotReady } from './report-check.js';
import { ServiceRecord } from './service-record.js';
import { type StreamHandle } from './stream-handle.js';
import { type CallRequest, lostCall, type WorkerCall } from './worker-call.js';
import { type WorkerOffer } from './worker-choice.js';
import { type ConnectionOptions, WorkerConnection } from './worker-connection.js';
import { isUnreachable } from './worker-health.js';
import { WorkerHold } from './worker-hold.js';
import { type WorkerStatus, type WorkerView } from './worker-view.js';

type Phase = Exclude<WorkerStatus, 'busy' | 'suspended'>;

/**
 * One configured worker through all its processes. What the states mean and how they follow each other: README
 * "States".
 */
export class PooledWorker {
  readonly id: string;
  readonly model: string;
  readonly isRemote: boolean;
  readonly pulls: boolean;
  readonly role: PooledWorkerOptions['role'];
  readonly log: LogRing;
  #phase: Phase = 'stopped';
  #connection: WorkerConnection | undefined;
  #report: WorkerHealthReport | undefined;
  #problem: string | undefined;
  #closing = false;
  readonly #drained = Promise.withResolvers<void>();
  readonly #record: ServiceRecord;
  readonly #hold: WorkerHold;

  constructor(private readonly options: PooledWorkerOptions) {
    ({ id: this.id, model: this.model, isRemote: this.isRemote, pulls: this.pulls, role: this.role } = options);
    this.log = options.log.recent;
    this.#record = new ServiceRecord(options.breaker, () => options.onCapacity());
    this.#hold = new WorkerHold(options.location);
  }

  get state(): WorkerStatus {
    if (this.#phase !== 'ready') return this.#phase;
    if (this.#record.breaker !== 'closed') return 'suspended';
    return this.#inUse > 0 ? 'busy' : 'ready';
  }

  /** It may get a request that it gave back: it has answered others since. */
  get isTrusted(): boolean {
    return this.#record.isTrusted;
  }

  start(): void {
    this.options.location.start({
      onStarting: () => this.#enter('starting'),
      onReachable: at => this.#connect(at),
      onReady: () => this.#connection?.health.probeNow(),
      onGone: () => {
        this.#disconnect();
        this.#enter('lost');
        this.#hold.gone();
      },
    });
  }

  /** Why its last process could not start; undefined once another one is ready. */
  get loadFailure(): string | undefined {
    return this.options.location.startFailure;
  }

  /** Undefined unless it is ready with a slot, if only for REALTIME or for one trial request. */
  offer(mostTogether?: number): WorkerOffer | undefined {
    const slots = this.#connection?.slots;
    if (this.#phase !== 'ready' || !slots) return undefined;
    const { inUse, total } = slots;
    const credits = slots.creditsFor(mostTogether);
    if (credits.urgent === 0) return undefined;
    const offer = { workerId: this.id, ...credits, idle: inUse === 0, maxBatch: this.#report?.maxBatch ?? 1 };
    return this.#record.limit({ offer, total });
  }

  /** @throws Error when fewer than `count` slots of that credit are left. */
  lease(count: number, credit: SlotCredit, mostTogether?: number): readonly Lease[] {
    if (!this.#connection) throw new Error(`worker ${this.id} has no process`);
    this.#connection.health.busy();
    return this.#record.lease(this.#connection.slots.lease(count, credit, mostTogether));
  }

  execute(call: CallRequest): WorkerCall {
    const startedAtMs = this.options.nowMs();
    const connection = this.#connection;
    const started = connection?.execute(call) ?? lostCall(this.id);
    started.reply.then(
      () => this.#record.answered(this.options.nowMs() - startedAtMs),
      (error: unknown) => {
        if (connection === this.#connection && this.#record.failed(error)) this.#onDraining(error as Error);
      },
    );
    return started;
  }

  /** Free places for live streams. */
  get freeStreams(): number {
    return this.#phase === 'ready' && this.#record.breaker === 'closed' ? (this.#connection?.streams.free ?? 0) : 0;
  }

  /** Its place is released when the worker ends it. @throws DomainError `worker_lost`; Error without a free place. */
  openStream(config: StreamConfig): StreamHandle {
    if (!this.#connection) throw new Error(`worker ${this.id} has no process`);
    return this.#connection.openStream(this.id, config);
  }

  /** Never rejects. */
  async cancel(key: RequestKey, reason: CancelReason): Promise<boolean> {
    return (await this.#connection?.link.cancel(key, reason)) ?? false;
  }

  /** Leases out and live streams. */
  get running(): number {
    return this.#connection?.running ?? 0;
  }

  /** No further offers. Probes continue, so that a worker that hangs with its last requests is detected. */
  drain(): void {
    this.#suspend('draining');
    this.#closing = true;
  }

  /** What runs on it finishes, nothing new is sent. Idempotent. @returns false as `WorkerHold.begin` */
  hold(restart = false): boolean {
    if (this.#closing || !this.#hold.begin(restart)) return this.#closing;
    if (this.#phase === 'ready') this.#suspend('draining');
    this.#hold.check(this.running, this.#connection !== undefined);
    this.#connection?.health.probeNow();
    return true;
  }

  /** Ends `hold`, also a restart that still waits. */
  resume(): void {
    this.#hold.end();
    this.#connection?.health.probeNow();
  }

  /** Drains for good; resolves when nothing runs any more, or the process is gone. */
  drained(): Promise<void> {
    this.drain();
    this.#checkDrained();
    return this.#drained.promise;
  }

  /** Ends remaining calls, then the worker if it is local, then the channel. */
  async close(): Promise<void> {
    this.drain();
    this.#record.clear();
    this.#connection?.health.stop();
    this.#connection?.link.abort();
    await this.options.location.stop();
    this.#disconnect();
  }

  view(): WorkerView {
    const { location } = this.options;
    const slots = this.#connection?.slots;
    return {
      ...{ id: this.id, model: this.model, state: this.state },
      slots: { total: slots?.total ?? 0, free: slots?.free ?? 0, inUse: this.#inUse },
      streams: this.#phase === 'ready' ? (this.#connection?.streams.total ?? 0) : 0,
      streamsInUse: this.#connection?.streams.inUse ?? 0,
      drained: this.#hold.isHeld,
      restarts: location.restarts,
      address: this.#connection?.link.address,
      pid: location.pid,
      device: this.#report?.device || this.options.device,
      lastExit: location.lastExit,
      problem: this.#problem ?? location.problem ?? this.#record.problem,
      breaker: this.#record.breaker === 'closed' ? undefined : this.#record.breaker,
      health: this.#report,
    };
  }

  get #inUse(): number {
    return this.#connection?.slots.inUse ?? 0;
  }

  #connect(at: ConnectionOptions['at']): void {
    this.#disconnect();
    this.#report = undefined;
    this.#problem = undefined;
    const { kind, connection: settings } = this.options;
    this.#connection = new WorkerConnection({
      at,
      ...{ kind, settings, isSupervised: !this.isRemote },
      security: this.options.security(),
      events: {
        onReport: report => this.#onReport(report),
        onProbeFailure: error => this.#onProbeFailure(error),
        onUnhealthy: () => this.#onUnhealthy(),
        onConnectionLost: () => this.#onConnectionLost(),
        onUnended: () => this.#onUnended(),
        onCapacity: () => this.options.onCapacity(),
        onReturn: () => this.#checkDrained(),
      },
    });
    this.#enter('starting');
  }

  #onReport(report: WorkerHealthReport): void {
    this.#report = report;
    const { model, kind, neededMessageBytes: maxMessageBytes } = this.options;
    const problem = reportProblem(report, { model, kind, maxMessageBytes });
    this.#explain(problem ?? (isUpstreamAway(report) ? (this.#problem ?? whyNotReady(report)) : undefined));
    this.options.location.onProbe?.(problem ?? whyNotReady(report));
    if (problem !== undefined) return this.#suspend('starting');
    if (report.generation && this.#connection)
      this.options.onGeneration(this.#connection.generation.since(report.generation));
    if (this.#closing) return;
    if (report.state !== 'ready') return this.#suspend(report.state);
    if (this.#hold.isHeld) return this.#suspend('draining');
    this.#enter('ready');
    this.#connection?.resize(report, this.role);
  }

  /** A worker that does not answer gets no further requests; its running ones may still succeed. */
  #onProbeFailure(error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error);
    this.options.location.onProbe?.(problem);
    // A program that has just been started opens its port when it can.
    if (this.options.location.isStarting && isUnreachable(error)) return;
    this.#explain(problem);
    if (this.#phase === 'ready') this.#suspend('unresponsive');
  }

  #onUnhealthy(): void {
    if (this.options.location.isStarting) return;
    const reason = `${this.options.connection.health.failures} health probes failed in a row`;
    this.#suspend('lost');
    this.#connection?.link.resetAll(reason);
    this.options.location.onHung(reason);
  }

  /** No requests until a probe over the new channel is answered: a retry would fail in the same way. */
  #onConnectionLost(): void {
    if (this.#phase !== 'ready') return;
    this.#record.note('the connection broke');
    this.#suspend('lost');
    this.#connection?.health.probeNow();
  }

  #onUnended(): void {
    const { resetAfterMs } = this.options.connection.stop;
    this.#record.note(`it did not end a cancelled call within ${resetAfterMs} ms`);
    this.options.log.say('warn', `a cancelled call did not end within ${resetAfterMs} ms and was reset`);
  }

  /** An answer says that it drains, before a probe does. A group is refused together: that is one failure. */
  #onDraining({ message }: Error): void {
    if (this.#phase !== 'ready') return;
    const problem = `it accepts no requests: ${message}`;
    this.#record.note(problem);
    this.#explain(problem);
    this.#suspend('draining');
    this.#connection?.health.probeNow();
  }

  #explain(problem: string | undefined): void {
    if (problem !== undefined && problem !== this.#problem) this.options.log.say('warn', problem);
    this.#problem = problem;
  }

  #disconnect(): void {
    this.#record.clear();
    this.#connection?.retire();
    this.#connection = undefined;
    this.#checkDrained();
  }

  #checkDrained(): void {
    if (this.#closing && this.running === 0) this.#drained.resolve();
    if (this.#connection) this.#hold.check(this.running, true);
  }

  /** No offers from now on. */
  #suspend(phase: Exclude<Phase, 'ready'>): void {
    this.#enter(phase);
    this.#connection?.suspend();
  }

  /** A closing worker stays draining whatever it still reports. */
  #enter(phase: Phase): void {
    if (this.#closing || this.#phase === phase) return;
    this.#phase = phase;
    this.options.log.say(phase === 'lost' || phase === 'unresponsive' ? 'warn' : 'info', `worker ${phase}`);
  }
}
