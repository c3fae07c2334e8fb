import { type WorkerHealthReport } from '../../contracts/grpc/health.codec.js';
import { type BreakerState } from './circuit-breaker.js';
import { type ProcessExit } from '../../platform/process/child-process.js';

/** README "States". Derived from `ready`: `busy` with at least one slot leased, `suspended` while its circuit breaker is not closed. */
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
export type WorkerState = (typeof WORKER_STATES)[number];

/** One worker as operators and tests see it: a snapshot. */
export interface WorkerView {
  readonly id: string;
  readonly model: string;
  /** host:port; absent while a local worker has not opened its port. */
  readonly address?: string;
  /** Absent for remote workers and between two processes of a local one. */
  readonly pid?: number;
  readonly state: WorkerState;
  /** Request credits (D-24). `inUse` may exceed `total` while a lost worker's calls end. */
  readonly slots: { readonly total: number; readonly free: number; readonly inUse: number };
  /** Live streams the worker takes besides files. */
  readonly streams: number;
  /** Of these, taken now; counted through a loss like `slots.inUse`. */
  readonly streamsInUse?: number;
  /** Such as `cuda:1`: as configured, then as the engine reports it. */
  readonly device?: string;
  /** Why it gets no requests, or one at a time; absent while it does. */
  readonly problem?: string;
  /** Absent: closed. */
  readonly breaker?: Exclude<BreakerState, 'closed'>;
  /** Processes started after the first. */
  readonly restarts: number;
  /** How the last process of a local worker ended. */
  readonly lastExit?: ProcessExit;
  /** What the worker last said about itself. */
  readonly health?: WorkerHealthReport;
}
