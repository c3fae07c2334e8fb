import { createHash } from 'node:crypto';

/** Prefix of the shared queue's blobs: inputs of waiting jobs, and results. */
export const QUEUE_BLOBS = 'plane/';

/**
 * Larger inputs and results go to the blob store; Redis keeps a reference. Bytes of JSON.
 */
export const MAX_INLINE_BYTES = 32_768;

/**
 * Approximate length of a queue's event stream; four entries per request. Gateways read
 * them as they come.
 */
export const MAX_EVENTS = 2000;

/**
 * What BullMQ knows as the priority of a job. Scripts decide the order
 * (`order/redis-order`).
 */
export const QueueJobClass = {
  /**
   * BATCH that had waited for `queue.aging_ms` when it was released to a worker (D-03).
   */
  AGED: 1,
  REALTIME: 2,
  BATCH: 3,
} as const;
export type QueueJobClass = (typeof QueueJobClass)[keyof typeof QueueJobClass];

/** The priority as a job's data have it. */
export type JobPriority = 'realtime' | 'batch';

/** True for a job of BATCH that a worker got because of its age. */
export const isPromoted = (jobPriority: number, priority: JobPriority): boolean =>
  jobPriority === QueueJobClass.AGED && priority === 'batch';

/**
 * All key names in Redis besides BullMQ's own. BullMQ gets the same `prefix` and keeps a
 * queue under `PREFIX:QUEUE:…`; our own keys use a queue name that no model can have.
 */
export class QueueKeys {
  /**
   * @param prefix setting `redis.prefix`, equal for all gateways and workers that
   *   share a queue
   */
  constructor(readonly prefix: string) {}

  /** Name of the BullMQ queue of a model, for `new Queue(name, { prefix })`. */
  queue(model: string): string {
    return `requests-${spelled(model)}`;
  }

  /** Prefix of BullMQ's keys of a model's queue. */
  base(model: string): string {
    return `${this.prefix}:${this.queue(model)}:`;
  }

  /**
   * BullMQ job id of a request: the id its caller knows, separated by tenant: the same id
   * twice is the same job, and the ids of two tenants never collide. Neither a number nor
   * with a colon: BullMQ accepts neither.
   */
  job(requestId: string, tenant: string | undefined): string {
    return `${this.owner(tenant)}.${spelled(requestId)}`;
  }

  /** A tenant in job ids and accounts. Hashed: its name may hold anything. */
  owner(tenant: string | undefined): string {
    return tenant === undefined
      ? OPEN
      : `t${createHash('sha256').update(tenant).digest('hex').slice(0, 16)}`;
  }

  /** Prefix of the keys of tenants' accounts in one queue (D-25). */
  shares(queue: string): string {
    return `${this.prefix}:plane:shares:${queue}:`;
  }

  /** String with TTL: input of the tenant ended an engine of the model lately (D-51). */
  suspect(model: string, tenant: string | undefined): string {
    return `${this.shares(this.queue(model))}suspect:${this.owner(tenant)}`;
  }

  /** Pub/sub: slots that a gateway was granted for places of a model (D-58). */
  granted(model: string, gateway: string): string {
    return `${this.shares(this.queue(model))}slots:granted:${gateway}`;
  }

  /** Hash: weights of tenants other than 1. */
  get weights(): string {
    return `${this.prefix}:plane:weights`;
  }

  /**
   * Pub/sub: a `StopNote` as JSON for every request to be stopped. Gateways settle its
   * caller, workers stop its work.
   */
  get stops(): string {
    return `${this.prefix}:plane:stops`;
  }

  /**
   * String with TTL: the `StopNote` of a job, for those that were not connected when it
   * was published. A worker checks it after it took a job and before it computes.
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

  /** String with TTL: the `WorkerAnnouncement` as JSON. Expired: the worker is gone. */
  worker(id: string): string {
    return `${this.prefix}:plane:worker:${id}`;
  }

  /**
   * String with TTL, which the worker renews: an operator drained the worker of that id.
   * It takes no jobs while the key is there, and looks with every heartbeat.
   */
  drained(id: string): string {
    return `${this.prefix}:plane:drained:${id}`;
  }

  /** String with TTL: the gateway that loads models on a device of that name. */
  device(id: string): string {
    return `${this.prefix}:plane:device:${spelled(id)}`;
  }

  /** String with TTL: why the requests of a model on a device are refused. */
  refused(model: string): string {
    return `${this.prefix}:plane:refused:${spelled(model)}`;
  }

  /** String with TTL: live sessions of a gateway wait for a model on a device. */
  loadRequested(model: string): string {
    return `${this.prefix}:plane:load-requested:${spelled(model)}`;
  }

  /** Pub/sub: the id of a worker whose announcement changed. */
  get announced(): string {
    return `${this.prefix}:plane:announced`;
  }

  /** List, latest first, of `DeadLetter` as JSON; trimmed to the latest 1000. */
  dead(model: string): string {
    return `${this.prefix}:plane:dead:${spelled(model)}`;
  }
}

const OPEN = 'open';

/** One to one, without characters that BullMQ or a key does not allow. */
const spelled = (text: string): string =>
  text.replaceAll(/[^A-Za-z0-9._-]/g, found => `~${(found.codePointAt(0) ?? 0).toString(16)}~`);
