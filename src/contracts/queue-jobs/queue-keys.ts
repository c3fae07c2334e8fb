import { createHash } from 'node:crypto';

/** Before the blobs of the shared plane: inputs that wait, and results. */
export const PLANE_BLOBS = 'plane/';

/** Results: speech that was synthesised, and values too large for Redis. */
export const PLANE_RESULT_BLOBS = [`${PLANE_BLOBS}speech/`, `${PLANE_BLOBS}results/`] as const;

/** Larger inputs and results go to the blob store; Redis keeps a reference. Bytes of JSON. */
export const MAX_INLINE_BYTES = 32_768;

/** Longest life of a finished job whose caller has the answer: gateways that wait for the same id read it. Milliseconds. */
export const ANSWERED_TTL_MS = 10_000;

/** Entries of a queue's event stream, about; four for each request. Gateways read them as they come. */
export const MAX_EVENTS = 2000;

/** Older entries of an event stream are removed. Milliseconds. */
export const EVENTS_TTL_MS = 60_000;

/** Priority classes of a BullMQ queue, best first; FIFO inside each (D-03). */
export const QueueJobClass = {
  /** Older than `queue.aging_ms`, whatever its lane, in order of acceptance. */
  AGED: 1,
  REALTIME: 2,
  BATCH: 3,
} as const;
export type QueueJobClass = (typeof QueueJobClass)[keyof typeof QueueJobClass];

/**
 * Every name in Redis besides BullMQ's own keys, in one place. BullMQ is given the same `prefix`; it keeps a queue under
 * `PREFIX:QUEUE:…`, so what is ours has a queue name that no model can have.
 */
export class QueueKeys {
  /** @param prefix setting `redis.prefix`, equal for all gateways and workers of one plane */
  constructor(readonly prefix: string) {}

  /** Name of the BullMQ queue of a model, for `new Queue(name, { prefix })`. */
  queue(model: string): string {
    return `requests-${spelled(model)}`;
  }

  /**
   * BullMQ job id of a request: the id its caller knows, kept apart by tenant, so that the same id twice is the same job and
   * one tenant's id never meets another's. Neither a number nor with a colon: BullMQ takes neither.
   */
  job(requestId: string, tenant: string | undefined): string {
    return `${owner(tenant)}.${spelled(requestId)}`;
  }

  /** Pub/sub: a `StopNote` as JSON for every request that is to stop. Gateways settle its caller, workers its work. */
  get stops(): string {
    return `${this.prefix}:plane:stops`;
  }

  /**
   * String with TTL: the `StopNote` of a job, for whoever was not listening when it was published. A worker looks for it after
   * it took a job and before it computes.
   */
  stop(queue: string, jobId: string): string {
    return `${this.prefix}:plane:stop:${queue}:${jobId}`;
  }

  /** Pub/sub: speech of a job while it is made, as `SpeechPiece`s. */
  speech(queue: string, jobId: string): string {
    return `${this.prefix}:plane:speech:${queue}:${jobId}`;
  }

  /** Sorted set of worker ids by the epoch milliseconds of their last heartbeat. */
  get workers(): string {
    return `${this.prefix}:plane:workers`;
  }

  /** String with TTL: the `WorkerAnnouncement` as JSON. Gone: the worker is. */
  worker(id: string): string {
    return `${this.prefix}:plane:worker:${id}`;
  }

  /** Pub/sub: the id of a worker whose announcement changed otherwise than by time. */
  get announced(): string {
    return `${this.prefix}:plane:announced`;
  }

  /** List, latest first, of `DeadLetter` as JSON; trimmed to `DEAD_LETTERS_KEPT`. */
  dead(model: string): string {
    return `${this.prefix}:plane:dead:${spelled(model)}`;
  }
}

export const DEAD_LETTERS_KEPT = 1000;
/** Of each; all letters of a model together stay below 90 MB. */
export const DEAD_LETTER_BYTES = 65_536;

const OPEN = 'open';

/** Tenants are hashed: their names may hold anything. */
const owner = (tenant: string | undefined): string =>
  tenant === undefined ? OPEN : `t${createHash('sha256').update(tenant).digest('hex').slice(0, 16)}`;

/** One to one, without what BullMQ or a key could trip over. */
const spelled = (text: string): string =>
  text.replaceAll(/[^A-Za-z0-9._-]/g, found => `~${(found.codePointAt(0) ?? 0).toString(16)}~`);
