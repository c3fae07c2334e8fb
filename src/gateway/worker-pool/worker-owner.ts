import { type ChannelSecurity } from '@switchyard/worker-protocol/channel-security.js';
import { type Subject } from 'rxjs';
import { type MonotonicClock } from '../../core/batching/window-timers.js';
import { type ModelSpec, type ReplicaSpec } from '../../platform/config/model-spec.js';
import { type Settings } from '../../platform/config/settings.js';
import { type ExecutedCall, type PoolActivity } from './pool-activity.js';
import { type StartTurns } from './start-turns.js';
import { type WorkerLaunch } from './worker-location.js';

/** What all workers of a model have in common, and whom they tell. */
export interface WorkerOwner {
  readonly settings: Settings;
  readonly launch: WorkerLaunch;
  readonly clock: MonotonicClock;
  readonly activity: Subject<PoolActivity>;
  readonly executed: Subject<ExecutedCall>;
  readonly starts: StartTurns;
  /** A worker has more slots than before, free or urgent. Synchronous. */
  readonly onCapacity: () => void;
  /** A worker has ended a request or a live stream. */
  readonly onReturn: () => void;
}

/** One worker as it is configured. */
export interface WorkerPlace {
  readonly id: string;
  readonly model: ModelSpec;
  readonly replica: ReplicaSpec;
  /** Configured for its engine; what a worker reports may say more. */
  readonly device?: string | undefined;
  /** It comes from `addresses`, and exists while its address record does. */
  readonly isRemote?: boolean;
  /** Read for each new connection, since files may change. */
  security(): ChannelSecurity;
}
