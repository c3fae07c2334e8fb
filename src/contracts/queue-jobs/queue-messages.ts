import { type CancelReason } from '../../core/request/settlement.js';
import { parseBoundedJson } from '../../core/shared/bounded-json.js';
import { type WorkerHealthReport } from '../grpc/health.codec.js';

/** Why a job ends before its worker is done with it; `queue_timeout`: no worker took it in time (D-07). */
export type StopReason = CancelReason | 'queue_timeout';

/** Published on `PlaneKeys.stops`, and kept under `PlaneKeys.stop` for whoever did not listen. */
export interface StopNote {
  /** BullMQ queue name and job id. */
  readonly queue: string;
  readonly jobId: string;
  readonly reason: StopReason;
}

/** What a pull worker says of itself every heartbeat. Its key lives for three of them. */
export interface WorkerAnnouncement {
  readonly v: 1;
  readonly id: string;
  readonly model: string;
  /** As a pushed worker tells in `Health`. */
  readonly health: WorkerHealthReport;
  /** Requests it has room for, and those it has. */
  readonly slots: { readonly total: number; readonly inUse: number };
  readonly host: string;
  readonly pid: number;
}

export const HEARTBEAT_MS = 1000;
export const ANNOUNCEMENT_TTL_MS = 3 * HEARTBEAT_MS;

/** Data that no worker could read, as it lay in Redis. */
export interface DeadLetter {
  readonly v: 1;
  readonly jobId: string;
  readonly queue: string;
  /** Which field, and why. */
  readonly reason: string;
  /** The job's data as bytes, base64: its first `DEAD_LETTER_BYTES`. */
  readonly raw: string;
  /** Bytes of the data in all. */
  readonly bytes: number;
  readonly workerId: string;
  /** Epoch milliseconds. */
  readonly atMs: number;
}

/** Undefined: not one of these. */
export function readStopNote(json: string): StopNote | undefined {
  const note = parsed(json) as Partial<StopNote> | undefined;
  const readable = typeof note?.queue === 'string' && typeof note.jobId === 'string' && typeof note.reason === 'string';
  return readable ? (note as StopNote) : undefined;
}

/** Undefined: not one of these, or of a version that is not known here. */
export function readAnnouncement(json: string | null): WorkerAnnouncement | undefined {
  const found = json === null ? undefined : (parsed(json) as Partial<WorkerAnnouncement> | undefined);
  const readable = found?.v === 1 && typeof found.id === 'string' && typeof found.model === 'string' && found.health;
  return readable ? (found as WorkerAnnouncement) : undefined;
}

function parsed(json: string): unknown {
  try {
    const value = parseBoundedJson(json);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
