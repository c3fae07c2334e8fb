import { type Demand } from '../../core/devices/swap-policy.port.js';

/**
 * What this gateway may do on the devices that it shares with others: `load` and unload
 * models; `keep` what it loaded and change nothing, while it is not certain who loads; `leave`,
 * because another gateway loads.
 */
export type DeviceRole = 'load' | 'keep' | 'leave';

/** What waits for a model at all gateways. Times as in `Demand`. */
export type SharedDemand = Pick<
  Demand,
  'waiting' | 'oldestMs' | 'oldestRealtimeMs' | 'dueMs' | 'running'
>;

/** The other gateways that have the same devices. */
export interface DeviceShare {
  readonly role: DeviceRole;
  /** The gateway that loads, as last heard; undefined: none, or not known. */
  readonly owner: string | undefined;
  /** In the queue that gateways share; undefined: not known. */
  demandOf(model: string): SharedDemand | undefined;
  /** A load took so long: device time of the tenants that wait for it. */
  chargeLoad(model: string, tookMs: number): void;
  /** Requests for it are refused at all gateways for so long, with the words of the engine. */
  refuse(model: string, reason: string, ms: number): void;
}
