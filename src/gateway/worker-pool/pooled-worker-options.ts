import { type ModelKind, type ReplicaRole } from '../../platform/config/model-spec.js';
import { type ProcessLog } from '../../platform/process/process-log.js';
import { type ChannelSecurity } from '../../platform/grpc/channel-security.js';
import { type PoolActivity } from './pool-activity.js';
import { type BreakerOptions } from './service-record.js';
import { type ConnectionSettings } from './worker-connection.js';
import { type WorkerLocation } from './worker-location.js';

export interface PooledWorkerOptions {
  readonly id: string;
  readonly model: string;
  readonly kind: ModelKind;
  /** Configured for its engine; what a worker reports may say more. */
  readonly device?: string;
  readonly role: ReplicaRole;
  /** Of `addresses`: it comes and goes with its address record. */
  readonly isRemote: boolean;
  /** It takes requests from the shared queue by itself. */
  readonly pulls: boolean;
  readonly location: WorkerLocation;
  readonly connection: ConnectionSettings;
  readonly breaker: BreakerOptions;
  /** Largest message that this worker must take. */
  readonly neededMessageBytes: number;
  readonly log: ProcessLog;
  /** Asked for each new connection. */
  security(): ChannelSecurity;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
  /** Slots of this worker became more, free or urgent. Synchronous. */
  readonly onCapacity: () => void;
  /** A slot or a place for a live stream was released. */
  readonly onReturn: () => void;
  readonly onActivity: (activity: PoolActivity) => void;
}

/**
 * `drain`: what runs finishes and nothing new is sent, until `resume`. `restart`: as
 * `drain`, then its process is replaced and serves again.
 */
export type WorkerOrder = 'drain' | 'resume' | 'restart';
