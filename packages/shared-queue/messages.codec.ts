import { parseBoundedJson } from '@switchyard/engine-api/bounded-json.js';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { z } from 'zod';

const PIECE_HEAD = z.object({
  // Of this attempt: a worker that starts over writes another one.
  blob: z.string(),
  // Position of the bytes in the blob.
  offset: z.number(),
  contentType: z.string(),
  sampleRate: z.number(),
});
/**
 * A piece of speech, published while it is made. The blob holds all of it once the
 * job is completed.
 */
export type SpeechPiece = z.output<typeof PIECE_HEAD> & { readonly bytes: Buffer };

const LENGTH_BYTES = 4;

/** Length of the head, the head as JSON, the bytes. */
export function encodeSpeechPiece({ bytes, ...head }: SpeechPiece): Buffer {
  const json = Buffer.from(writeJson(head));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.length);
  return Buffer.concat([length, json, bytes]);
}

/** Undefined: the message is not a `SpeechPiece`. */
export function decodeSpeechPiece(message: Buffer): SpeechPiece | undefined {
  if (message.length < LENGTH_BYTES) return undefined;
  const end = LENGTH_BYTES + message.readUInt32BE(0);
  if (end > message.length) return undefined;
  const head = read(PIECE_HEAD, message.toString('utf8', LENGTH_BYTES, end));
  return head && { ...head, bytes: message.subarray(end) };
}

/** What a pulling worker reports every heartbeat. Its key expires after three of them. */
export interface WorkerAnnouncement<Health extends object = object> {
  readonly v: 1;
  readonly id: string;
  readonly model: string;
  /** As a pushed worker reports it in `Health`. */
  readonly health: Health;
  /** Requests that it takes at once, and those that it has. */
  readonly slots: { readonly total: number; readonly inUse: number };
  readonly host: string;
  readonly pid: number;
  /**
   * Before the first colon of the tokens of its locks. Absent: nobody can free them
   * before they expire.
   */
  readonly lockOwner?: string;
  /** Whether an operator drained it, so that it takes no requests. */
  readonly drained?: boolean;
  /**
   * A gateway, the process with the id `by` on its host, loaded it on one of these devices.
   * Absent: it uses none that models share.
   */
  readonly placed?: { readonly by: number; readonly devices: readonly string[] };
  /**
   * Of one that is placed, once it listens: what its gateway calls it, where all gateways of its
   * host call it, and the token that it asks for.
   */
  readonly at?: { readonly worker: string; readonly address: string; readonly token: string };
}

/** A job whose data no worker could read. */
export interface DeadLetter {
  readonly v: 1;
  readonly jobId: string;
  readonly queue: string;
  /** The invalid field, and why it is invalid. */
  readonly reason: string;
  /** The job's data as bytes, base64: its first `DEAD_LETTER_BYTES`. */
  readonly raw: string;
  /** Bytes of the data in all. */
  readonly bytes: number;
  readonly workerId: string;
  /** Epoch milliseconds of Redis. */
  readonly atMs: number;
}

const STOP_NOTE = z.object({
  // BullMQ queue name and job id.
  queue: z.string(),
  jobId: z.string(),
  // Why: a reason of the gateway's cancels, or `queue_timeout`.
  reason: z.string(),
});
/**
 * Published on `QueueKeys.stops`, and kept under `QueueKeys.stop` for those that
 * were not connected.
 */
export type StopNote = z.output<typeof STOP_NOTE>;

/** Undefined: the JSON is not a `StopNote`. */
export const readStopNote = (json: string): StopNote | undefined => read(STOP_NOTE, json);

/** Its worker is of this version: what it says of its health is not checked. */
const ANNOUNCEMENT = z.looseObject({
  v: z.literal(1),
  id: z.string(),
  model: z.string(),
  health: z.looseObject({}),
});

/** Undefined: the JSON is not an announcement of version 1. */
export const readAnnouncement = <Health extends object>(
  json: string | null,
): WorkerAnnouncement<Health> | undefined =>
  json === null ? undefined : (read(ANNOUNCEMENT, json) as WorkerAnnouncement<Health> | undefined);

function read<S extends z.ZodType>(schema: S, json: string): z.output<S> | undefined {
  try {
    return schema.safeParse(parseBoundedJson(json)).data;
  } catch {
    return undefined;
  }
}
