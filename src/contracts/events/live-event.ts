import { type ErrorCode } from '../../core/errors/domain-error.js';
import { type RequestCounts } from '../../core/jobs/batch-job.js';
import { type BatchStatus } from '../../core/jobs/batch-status.js';
import { type LatencyPhases } from '../../core/request/latency-phases.js';
import { type PriorityLabel } from '../../core/request/request-priority.js';
import { type CancelReason, type Settlement } from '../../core/request/settlement.js';
import { type ErrorEnvelope } from '../openai/error-envelope.js';

/** Where Socket.IO listens, and the one namespace there. WebSocket transport only. */
export const LIVE_PATH = '/events/';
export const LIVE_NAMESPACE = '/events';

export type LiveRoomName = 'queue' | 'workers' | `request:${string}` | `batch:${string}`;

/** Room `queue`, keyed by model. The last five count since the gateway started. */
export interface LiveQueueLine {
  readonly model: string;
  readonly realtime: number;
  readonly batch: number;
  readonly running: number;
  readonly rejected: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
}

/** Room `workers`, keyed by worker id. */
export interface LiveWorker {
  readonly id: string;
  readonly model: string;
  readonly state: string;
  readonly slots: number;
  readonly in_use: number;
  readonly streams: number;
  readonly restarts: number;
  /** Of a model that shares a device, while it is on one. */
  readonly device?: string | undefined;
  readonly stage?: 'loading' | 'resident' | 'leaving' | undefined;
}

/** Room `request:<id>`, keyed by the request id. Milliseconds. */
export interface LiveRequest {
  readonly request_id: string;
  readonly model: string;
  readonly priority: PriorityLabel;
  readonly state: 'queued' | 'running' | Settlement['status'];
  readonly attempts: number;
  /** BATCH that counts as realtime because of its age. */
  readonly aged: boolean;
  readonly worker?: string;
  readonly group?: {
    readonly id: string;
    readonly size: number;
    readonly reason: string;
  };
  readonly cancel_reason?: CancelReason;
  readonly code?: ErrorCode;
  readonly batch_size?: number;
  readonly phases?: LatencyPhases;
}

/**
 * Room `batch:<id>`, keyed by the batch id; emitted about once a second while it changes.
 */
export interface LiveBatch {
  readonly id: string;
  readonly status: BatchStatus;
  readonly endpoint: string;
  readonly model?: string;
  readonly request_counts: RequestCounts;
  /** Unix seconds. */
  readonly expires_at: number;
  readonly output_file_id?: string;
  readonly error_file_id?: string;
}

export type LiveEntry = LiveQueueLine | LiveWorker | LiveRequest | LiveBatch;
export type LiveState = Readonly<Record<string, LiveEntry>>;

/**
 * One gateway's part of a room. `source` names the gateway; each numbers its own changes.
 */
export interface LiveSnapshot {
  readonly room: LiveRoomName;
  readonly source: string;
  readonly seq: number;
  readonly state: LiveState;
}

/**
 * A change: `seq` is one more than before; anything else is a gap, and `sync` mends it.
 */
export interface LiveDelta {
  readonly room: LiveRoomName;
  readonly source: string;
  readonly seq: number;
  readonly set: LiveState;
  readonly removed?: readonly string[];
}

/** That gateway is gone, and its part with it. */
export interface LiveGone {
  readonly room: LiveRoomName;
  readonly source: string;
}

export type LiveAnswer =
  /**
   * `found` is false while nothing is known of the request or batch; a later delta
   * may report it.
   */
  | {
      readonly ok: true;
      readonly room: LiveRoomName;
      readonly found: boolean;
      readonly snapshots: LiveSnapshot[];
    }
  | { readonly ok: false; readonly error: ErrorEnvelope['error'] };

export interface ServerToClientEvents {
  snapshot: (snapshot: LiveSnapshot) => void;
  delta: (delta: LiveDelta) => void;
  gone: (gone: LiveGone) => void;
}

export interface ClientToServerEvents {
  /** Snapshots now, deltas from then on. */
  join: (room: string, answer: (answer: LiveAnswer) => void) => void;
  leave: (room: string, answer: (answer: LiveAnswer) => void) => void;
  /** Fresh snapshots of a room that was joined. */
  sync: (room: string, answer: (answer: LiveAnswer) => void) => void;
}
