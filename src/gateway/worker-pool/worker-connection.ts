import { type GenerationActivity, type WorkerHealthReport } from '../../contracts/grpc/health.codec.js';
import { type StreamConfig } from '../../contracts/grpc/stream.codec.js';
import { WorkerLostError } from '../../core/request/worker-lost.js';
import { type ModelKind, type ReplicaRole } from '../../platform/config/model-spec.js';
import { type ChannelSecurity } from './channel-security.js';
import { InProcessLink } from './in-process-location.js';
import { type InProcessWorker } from './in-process-worker.js';
import { groupSize, slotCredits, SlotLedger, slotOverdraft } from './slot-ledger.js';
import { type StreamHandle } from './stream-handle.js';
import { type CallRequest, type WorkerCall } from './worker-call.js';
import { type ChannelLimits } from './worker-channel.js';
import { WorkerHealth } from './worker-health.js';
import { type StopLimits, WorkerLink } from './worker-link.js';

const TOTALS = ['steps', 'decodeCalls', 'preemptions', 'prefixHitTokens', 'strandedTokens', 'losses'] as const;

/** Totals of continuous batching. */
export type GenerationCounts = Readonly<Pick<GenerationActivity, (typeof TOTALS)[number]>>;

const NOTHING: GenerationCounts = {
  ...{ steps: 0, decodeCalls: 0, preemptions: 0, prefixHitTokens: 0, strandedTokens: 0, losses: 0 },
};

/** Turns the totals of one process into increments: the next process starts from 0. */
export class GenerationTotals {
  #last = NOTHING;

  since(now: GenerationCounts): GenerationCounts {
    const counts = { ...NOTHING };
    for (const name of TOTALS) counts[name] = Math.max(0, now[name] - this.#last[name]);
    this.#last = now;
    return counts;
  }
}

/** How every worker of a model is reached, probed and stopped. */
export interface ConnectionSettings {
  readonly limits: ChannelLimits;
  readonly stop: StopLimits;
  readonly health: { readonly intervalMs: number; readonly timeoutMs: number; readonly failures: number };
}

export interface ConnectionEvents {
  onReport(report: WorkerHealthReport): void;
  /** A probe failed. */
  onProbeFailure(error: unknown): void;
  /** So many failed in a row that the worker counts as lost. */
  onUnhealthy(): void;
  onConnectionLost(): void;
  /** A cancelled call was reset from this side, because the worker did not end it in time. */
  onUnended(): void;
  /** More slots than before, free or urgent. Synchronous. */
  onCapacity(): void;
  /** A slot or a place for a live stream was released. Synchronous. */
  onReturn(): void;
}

export interface ConnectionOptions {
  /** host:port, or in this process. */
  readonly at: string | InProcessWorker;
  readonly kind: ModelKind;
  readonly settings: ConnectionSettings;
  /** Its end is noticed without a probe. */
  readonly isSupervised: boolean;
  readonly security: ChannelSecurity;
  readonly events: ConnectionEvents;
}

/** One process of a worker: its calls, its slots, its probes. */
export class WorkerConnection {
  readonly link: WorkerLink | InProcessLink;
  readonly slots: SlotLedger;
  /** Places for live streams, apart from file slots (D-20). */
  readonly streams: SlotLedger;
  readonly health: WorkerHealth;
  readonly generation = new GenerationTotals();
  readonly #isSupervised: boolean;
  #fate = Promise.withResolvers<'disconnected' | 'died'>();

  constructor(options: ConnectionOptions) {
    const { at, settings, events, isSupervised } = options;
    this.#isSupervised = isSupervised;
    const { health } = settings;
    this.link = typeof at === 'string' ? linkTo(at, options) : new InProcessLink(at);
    this.health = new WorkerHealth({
      intervalMs: health.intervalMs,
      failures: health.failures,
      rests: isSupervised,
      probe: () => this.link.probe(health.timeoutMs),
      onReport: report => {
        this.#survived();
        events.onReport(report);
      },
      onFailure: error => events.onProbeFailure(error),
      onUnhealthy: () => {
        this.#survived();
        events.onUnhealthy();
      },
    });
    const onReturn = () => events.onReturn();
    this.slots = new SlotLedger(() => events.onCapacity(), onReturn);
    this.streams = new SlotLedger(() => undefined, onReturn);
  }

  execute(call: CallRequest): WorkerCall {
    const { reply, finished } = this.link.execute(call);
    return { reply: reply.catch((error: unknown) => this.#explain(error)), finished };
  }

  /** Leases out and live streams. */
  get running(): number {
    return this.slots.inUse + this.streams.inUse;
  }

  /** Its place is released when the worker ends it. @throws DomainError `worker_lost`; Error without a free place. */
  openStream(workerId: string, config: StreamConfig): StreamHandle {
    const [lease] = this.streams.lease(1);
    this.health.busy();
    try {
      const handle = this.link.openStream(workerId, config);
      void handle.finished.then(() => lease?.release());
      return handle;
    } catch (error) {
      lease?.release();
      throw error;
    }
  }

  /** To what its role leaves of the size that the worker reports. */
  resize(report: WorkerHealthReport, role: ReplicaRole): void {
    this.streams.resize(role === 'file' ? 0 : report.streams);
    if (role !== 'stream') this.slots.resize(slotCredits(report), slotOverdraft(report), groupSize(report));
  }

  /** No further leases; those that are out are released one by one, and still count if the worker recovers. */
  suspend(): void {
    this.slots.resize(0);
  }

  /** The process is gone, or will be: calls in flight end by themselves. */
  retire(): void {
    this.health.stop();
    this.suspend();
    this.link.retire();
    this.#fate.resolve('died');
  }

  /** The process did not end: it answers, or hangs. */
  #survived(): void {
    this.#fate.resolve('disconnected');
    this.#fate = Promise.withResolvers();
  }

  /** When the connection to a process of this machine breaks, its end follows, or it answers a probe. */
  async #explain(error: unknown): Promise<never> {
    const isOpen = this.#isSupervised && error instanceof WorkerLostError && error.kind === 'disconnected';
    throw isOpen ? new WorkerLostError(await this.#fate.promise, error.message, error, error.together) : error;
  }
}

const linkTo = (address: string, { kind, settings, security, events }: ConnectionOptions): WorkerLink =>
  new WorkerLink({
    ...{ address, kind, limits: settings.limits, stop: settings.stop, security },
    onConnectionLost: () => events.onConnectionLost(),
    onUnended: () => events.onUnended(),
  });
