import { type ProcessExit } from '@switchyard/engine-api/process/child-process.js';
import { type WorkerHealthReport } from '@switchyard/worker-protocol/health.codec.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';

/**
 * `loaded`: a worker takes work. `loading`: they start for the first time. `failed`: none
 * is up, and each has ended or cannot be reached, or all are drained; they are restarted.
 * `unloading`: running work may end.
 */
export const MODEL_STATES = ['unloaded', 'loading', 'loaded', 'unloading', 'failed'] as const;

/** One model as operators and tests see it: a snapshot. */
export interface ModelView {
  readonly id: string;
  readonly state: (typeof MODEL_STATES)[number];
  /** Why it has failed. */
  readonly reason?: string;
  readonly autostart: NonNullable<ModelSpec['autostart']>;
  /** While it is unloaded, the next request brings it back. */
  readonly startsOnRequest: boolean;
  readonly idleUnloadS?: number;
  /** Requests and live streams that its workers have now. */
  readonly running: number;
  /** Milliseconds since it was last needed; 0 while something runs. */
  readonly idleMs: number;
  readonly workers: readonly WorkerView[];
}

/** It takes requests. */
export const isReady = ({ state }: Pick<WorkerView, 'state'>): boolean =>
  state === 'ready' || state === 'busy';

/** It starts for the first time, or is on its way back from an ordered stop. */
export const isNew = ({ state, lastExit, problem }: WorkerView): boolean =>
  (state === 'starting' || state === 'draining') && lastExit === undefined && problem === undefined;

/**
 * README "States". Derived from `ready`: `busy` with at least one slot leased,
 * `suspended` while its circuit breaker is not closed.
 */
export const WORKER_STATES = [
  'stopped',
  'starting',
  'ready',
  'busy',
  'unresponsive',
  'suspended',
  'draining',
  'lost',
] as const;

/**
 * `open`: no requests. `half_open`: one request at a time, to see whether the
 * worker serves again.
 */
export type BreakerState = 'closed' | 'open' | 'half_open';

/** One worker as operators and tests see it: a snapshot. */
export interface WorkerView {
  readonly id: string;
  readonly model: string;
  /** host:port; absent while a local worker has not opened its port. */
  readonly address?: string;
  /** Absent for remote workers and between two processes of a local one. */
  readonly pid?: number;
  readonly state: (typeof WORKER_STATES)[number];
  /**
   * Request credits (D-24). `inUse` may exceed `total` while a lost worker's calls end.
   */
  readonly slots: {
    readonly total: number;
    readonly free: number;
    readonly inUse: number;
  };
  /** Live streams the worker takes besides files. */
  readonly streams: number;
  /** Of these, taken now; counted through a loss like `slots.inUse`. */
  readonly streamsInUse?: number;
  /** Such as `cuda:1`: as configured until the engine reports its own. */
  readonly device?: string;
  /** Why it gets no requests, or one at a time; absent while it is healthy. */
  readonly problem?: string;
  /** Absent: closed. */
  readonly breaker?: Exclude<BreakerState, 'closed'>;
  /** An operator drained it: it gets no requests until it is resumed. */
  readonly drained?: boolean;
  /** Processes started after the first. */
  readonly restarts: number;
  /** How the last process of a local worker ended. */
  readonly lastExit?: ProcessExit;
  /** The last report of the worker. */
  readonly health?: WorkerHealthReport;
}

/**
 * `drain`: what runs finishes and nothing new is sent, until `resume`. `restart`: as
 * `drain`, then its process is replaced and serves again.
 */
export type WorkerOrder = 'drain' | 'resume' | 'restart';

/** What is wrong with a worker, if that is known. */
export function whyDown({ id, lastExit, problem }: WorkerView): readonly string[] {
  const reason = problem ?? lastExit?.reason ?? lastExit?.lines.at(-1);
  return reason === undefined ? [] : [`${id}: ${reason}`];
}
