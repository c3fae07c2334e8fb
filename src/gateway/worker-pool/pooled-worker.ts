import { type WorkerHealthReport } from '../../contracts/grpc/health.codec.js';
import { type StreamConfig } from '../../contracts/grpc/stream.codec.js';
import { type SlotCredit, type SlotOffer } from '../../core/dispatch/worker.port.js';
import { type RequestKey } from '../../core/request/request-key.js';
import { type CancelReason } from '../../core/request/settlement.js';
import { type Lease } from '../../core/shared/lease.js';
import { type ModelKind } from '../../platform/config/model-spec.js';
import { type ProcessLog } from '../../platform/process/process-log.js';
import { type ChannelSecurity } from './channel-security.js';
import { type GenerationCounts, GenerationTotals } from './generation-totals.js';
import { RecentLatency } from './recent-latency.js';
import { slotCredits, SlotLedger, slotOverdraft } from './slot-ledger.js';
import { type StreamHandle } from './stream-handle.js';
import { type CallRequest, lostCall, type WorkerCall } from './worker-call.js';
import { type ChannelLimits } from './worker-channel.js';
import { type WorkerOffer } from './worker-choice.js';
import { WorkerHealth } from './worker-health.js';
import { RemoteHome, type WorkerHome } from './worker-home.js';
import { WorkerLink } from './worker-link.js';
import { type WorkerState, type WorkerView } from './worker-view.js';

export interface PooledWorkerOptions {
  readonly id: string;
  readonly model: string;
  readonly kind: ModelKind;
  /** Configured for its engine; what a worker reports may say more. */
  readonly device?: string;
  readonly home: WorkerHome;
  readonly limits: ChannelLimits;
  readonly health: { readonly intervalMs: number; readonly timeoutMs: number; readonly failures: number };
  readonly log: ProcessLog;
  /** Asked for each new connection. */
  security(): ChannelSecurity;
  /** Monotonic milliseconds. */
  nowMs(): number;
  /** Slots of this worker became more, free or urgent. Synchronous. */
  onCapacity(): void;
  /** What continuous batching did since the last report. */
  onGeneration(counts: GenerationCounts): void;
}

type Phase = Exclude<WorkerState, 'busy'>;

/** One process of the worker, as long as it lives: its connection, its slots, its probes. */
interface Tenancy {
  readonly link: WorkerLink;
  readonly slots: SlotLedger;
  /** Places for live streams, apart from file slots (D-20). */
  readonly streams: SlotLedger;
  readonly health: WorkerHealth;
  readonly generation: GenerationTotals;
}

/**
 * One configured worker through all its processes. What the states mean and how they follow each other: README "States".
 */
export class PooledWorker {
  #phase: Phase = 'stopped';
  #tenancy: Tenancy | undefined;
  #report: WorkerHealthReport | undefined;
  #problem: string | undefined;
  #closing = false;
  #drained: Promise<void> | undefined;
  #onDrained: () => void = () => undefined;
  readonly #latency = new RecentLatency();

  constructor(private readonly options: PooledWorkerOptions) {}

  get id(): string {
    return this.options.id;
  }

  get model(): string {
    return this.options.model;
  }

  /** Run by somebody else, at an address. */
  get isRemote(): boolean {
    return this.options.home instanceof RemoteHome;
  }

  get state(): WorkerState {
    return this.#phase === 'ready' && this.#inUse > 0 ? 'busy' : this.#phase;
  }

  start(): void {
    this.options.home.start({
      onStarting: () => this.#enter('starting'),
      onReachable: address => this.#connect(address),
      onReady: () => this.#tenancy?.health.probeNow(),
      onGone: () => {
        this.#disconnect();
        this.#enter('lost');
      },
    });
  }

  /** Undefined unless ready with a slot, be it for REALTIME only. */
  offer(): WorkerOffer | undefined {
    const slots = this.#tenancy?.slots;
    if (this.#phase !== 'ready' || !slots || slots.urgent === 0) return undefined;
    const { free, urgent, inUse } = slots;
    const maxBatch = this.#report?.maxBatch ?? 1;
    const offer: SlotOffer = { workerId: this.id, free, urgent, idle: inUse === 0, maxBatch };
    return { offer, total: slots.total, latencyMs: this.#latency.ms };
  }

  /** @throws Error when fewer than `count` slots of that credit are left. */
  lease(count: number, credit: SlotCredit): readonly Lease[] {
    const slots = this.#tenancy?.slots;
    if (!slots) throw new Error(`worker ${this.id} has no process`);
    return slots.lease(count, credit);
  }

  execute(call: CallRequest): WorkerCall {
    const startedAtMs = this.options.nowMs();
    const started = this.#tenancy?.link.execute(call) ?? lostCall(this.id);
    started.reply.then(
      () => this.#latency.add(this.options.nowMs() - startedAtMs),
      () => undefined,
    );
    return started;
  }

  /** Places for live streams that are free now. */
  get freeStreams(): number {
    return this.#phase === 'ready' ? (this.#tenancy?.streams.free ?? 0) : 0;
  }

  /** Its place comes back when the worker let go. @throws DomainError `worker_lost`; Error without a free place. */
  openStream(config: StreamConfig): StreamHandle {
    const tenancy = this.#tenancy;
    if (!tenancy) throw new Error(`worker ${this.id} has no process`);
    const [lease] = tenancy.streams.lease(1);
    try {
      const handle = tenancy.link.openStream(this.id, config);
      void handle.finished.then(() => lease?.release());
      return handle;
    } catch (error) {
      lease?.release();
      throw error;
    }
  }

  /** Never rejects. */
  async cancel(key: RequestKey, reason: CancelReason, timeoutMs: number): Promise<boolean> {
    return (await this.#tenancy?.link.cancel(key, reason, timeoutMs)) ?? false;
  }

  /** Leases out and live streams. */
  get running(): number {
    return this.#inUse + (this.#tenancy?.streams.inUse ?? 0);
  }

  /** No further offers; probed on, so that one which hangs with its last requests is found out. */
  drain(): void {
    this.#suspend('draining');
    this.#closing = true;
  }

  /** Drains; resolves when nothing runs here any more, or the process is gone with what ran. */
  drained(): Promise<void> {
    this.drain();
    this.#drained ??= new Promise(resolve => {
      this.#onDrained = resolve;
      this.#checkDrained();
    });
    return this.#drained;
  }

  /** Ends calls that are left, then the worker if it is ours, then the channel. */
  async close(): Promise<void> {
    this.drain();
    this.#tenancy?.health.stop();
    this.#tenancy?.link.abort();
    await this.options.home.stop();
    this.#disconnect();
  }

  view(): WorkerView {
    const { home } = this.options;
    const slots = this.#tenancy?.slots;
    return {
      id: this.id,
      model: this.model,
      state: this.state,
      slots: { total: slots?.total ?? 0, free: slots?.free ?? 0, inUse: this.#inUse },
      streams: this.#phase === 'ready' ? (this.#report?.streams ?? 0) : 0,
      streamsInUse: this.#tenancy?.streams.inUse ?? 0,
      restarts: home.restarts,
      ...(this.#tenancy && { address: this.#tenancy.link.address }),
      ...(home.pid !== undefined && { pid: home.pid }),
      ...(this.#device !== undefined && { device: this.#device }),
      ...(home.lastExit && { lastExit: home.lastExit }),
      ...(this.#problem !== undefined && { problem: this.#problem }),
      ...(this.#report && { health: this.#report }),
    };
  }

  get #inUse(): number {
    return this.#tenancy?.slots.inUse ?? 0;
  }

  get #device(): string | undefined {
    return this.#report?.device || this.options.device;
  }

  #connect(address: string): void {
    this.#disconnect();
    this.#tenancy = this.#moveIn(address);
    this.#report = undefined;
    this.#enter('starting');
  }

  #moveIn(address: string): Tenancy {
    const { kind, limits, health, home } = this.options;
    const security = this.options.security();
    const onConnectionLost = () => this.#onConnectionLost(link);
    const link = new WorkerLink({ address, kind, limits, security, onConnectionLost });
    const probes = new WorkerHealth({
      intervalMs: health.intervalMs,
      failures: health.failures,
      probe: () => link.probe(health.timeoutMs),
      onReport: report => this.#onReport(report),
      onUnhealthy: error => {
        this.#problem = error instanceof Error ? error.message : String(error);
        this.#suspend('lost');
        home.onHung(`${health.failures} health probes failed in a row`);
      },
    });
    const onReturn = () => this.#checkDrained();
    const slots = new SlotLedger(() => this.options.onCapacity(), onReturn);
    const generation = new GenerationTotals();
    return { link, slots, streams: new SlotLedger(() => undefined, onReturn), health: probes, generation };
  }

  #onReport(report: WorkerHealthReport): void {
    this.#report = report;
    this.#problem = undefined;
    if (report.generation && this.#tenancy)
      this.options.onGeneration(this.#tenancy.generation.since(report.generation));
    if (this.#closing) return;
    if (report.state !== 'ready') return this.#suspend(report.state);
    this.#enter('ready');
    this.#tenancy?.streams.resize(report.streams);
    this.#tenancy?.slots.resize(slotCredits(report), slotOverdraft(report));
  }

  /** Nothing goes there until a probe over the new channel is answered; a retry must not run into the same hole. */
  #onConnectionLost(link: WorkerLink): void {
    if (this.#phase !== 'ready' || link !== this.#tenancy?.link) return;
    this.#suspend('lost');
    this.#tenancy.health.probeNow();
  }

  #disconnect(): void {
    this.#tenancy?.health.stop();
    this.#tenancy?.slots.resize(0);
    this.#tenancy?.link.retire();
    this.#tenancy = undefined;
    this.#checkDrained();
  }

  #checkDrained(): void {
    if (this.#closing && this.running === 0) this.#onDrained();
  }

  /** No offers from now on; leases that are out come back one by one, and are still counted if the worker recovers. */
  #suspend(phase: Exclude<Phase, 'ready'>): void {
    this.#enter(phase);
    this.#tenancy?.slots.resize(0);
  }

  /** A closing worker stays draining whatever is still heard of it. */
  #enter(phase: Phase): void {
    if (this.#closing || this.#phase === phase) return;
    this.#phase = phase;
    this.options.log.say(phase === 'lost' ? 'warn' : 'log', `worker ${phase}`);
  }
}
