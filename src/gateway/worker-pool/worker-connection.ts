import { type WorkerHealthReport } from '../../contracts/grpc/health.codec.js';
import { type ModelKind } from '../../platform/config/model-spec.js';
import { type ChannelSecurity } from './channel-security.js';
import { GenerationTotals } from './generation-totals.js';
import { slotCredits, SlotLedger, slotOverdraft } from './slot-ledger.js';
import { type ChannelLimits } from './worker-channel.js';
import { WorkerHealth } from './worker-health.js';
import { type StopLimits, WorkerLink } from './worker-link.js';

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
  /** So many in a row that the worker is given up. */
  onUnhealthy(): void;
  onConnectionLost(): void;
  /** A cancelled call was broken off from here, because the worker did not end it in time. */
  onUnended(): void;
  /** Slots became more, free or urgent. Synchronous. */
  onCapacity(): void;
  /** A slot or a place for a live stream came back. Synchronous. */
  onReturn(): void;
}

export interface ConnectionOptions {
  /** host:port */
  readonly address: string;
  readonly kind: ModelKind;
  readonly settings: ConnectionSettings;
  readonly security: ChannelSecurity;
  readonly events: ConnectionEvents;
}

/** One process of a worker, as long as it lives: its calls, its slots, its probes. */
export class WorkerConnection {
  readonly link: WorkerLink;
  readonly slots: SlotLedger;
  /** Places for live streams, apart from file slots (D-20). */
  readonly streams: SlotLedger;
  readonly health: WorkerHealth;
  readonly generation = new GenerationTotals();

  constructor({ address, kind, settings, security, events }: ConnectionOptions) {
    const { limits, stop, health } = settings;
    this.link = new WorkerLink({
      ...{ address, kind, limits, stop, security },
      onConnectionLost: () => events.onConnectionLost(),
      onUnended: () => events.onUnended(),
    });
    this.health = new WorkerHealth({
      intervalMs: health.intervalMs,
      failures: health.failures,
      probe: () => this.link.probe(health.timeoutMs),
      onReport: report => events.onReport(report),
      onFailure: error => events.onProbeFailure(error),
      onUnhealthy: () => events.onUnhealthy(),
    });
    const onReturn = () => events.onReturn();
    this.slots = new SlotLedger(() => events.onCapacity(), onReturn);
    this.streams = new SlotLedger(() => undefined, onReturn);
  }

  /** Leases out and live streams. */
  get running(): number {
    return this.slots.inUse + this.streams.inUse;
  }

  /** As large as the worker says. */
  resize(report: WorkerHealthReport): void {
    this.streams.resize(report.streams);
    this.slots.resize(slotCredits(report), slotOverdraft(report));
  }

  /** Nothing more is leased; what is out comes back one by one, and still counts if the worker recovers. */
  suspend(): void {
    this.slots.resize(0);
  }

  /** The process is gone, or will be: what is in flight ends by itself. */
  retire(): void {
    this.health.stop();
    this.suspend();
    this.link.retire();
  }
}
