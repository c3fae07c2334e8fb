import { Inject, Injectable } from '@nestjs/common';
import { Redis, type RedisOptions } from 'ioredis';
import { type Logger } from 'pino';
import { QueueKeys } from '../../contracts/queue-jobs/queue-keys.js';
import { backoffMs } from '../../core/shared/backoff.js';
import { WORKER_SPEC, type WorkerSpec } from '../../platform/config/worker-spec.js';
import { type SharedQueueAccess } from '../../platform/config/plane-access.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { PullReadiness } from '../lifecycle/worker-state.js';

/** What a connection is for; also its name in `CLIENT LIST`. */
type Purpose = 'work' | 'wait' | 'listen' | 'callbacks';

/** Connections of a pull worker. Each comes back by itself, for ever; how it goes decides the worker's readiness. */
@Injectable()
export class PullConnections {
  readonly keys: QueueKeys;
  readonly plane: SharedQueueAccess;
  readonly #clients = new Map<Purpose, Redis>();

  constructor(
    @Inject(WORKER_SPEC) private readonly spec: WorkerSpec,
    @Inject(WORKER_LOG) private readonly log: Logger,
    private readonly readiness: PullReadiness,
  ) {
    this.plane = planeOf(spec);
    this.keys = new QueueKeys(this.plane.prefix);
  }

  /** One per purpose, opened when first asked for. */
  for(purpose: Purpose): Redis {
    const found = this.#clients.get(purpose);
    if (found) return found;
    const client = new Redis(this.plane.url, connectionOptions(`${this.spec.workerId}:${purpose}`, purpose));
    this.#clients.set(purpose, client);
    this.#watch(client, purpose);
    return client;
  }

  close(): void {
    for (const client of this.#clients.values()) client.disconnect();
    this.#clients.clear();
  }

  /** One line when it goes and one when it is back; ioredis reports every attempt. */
  #watch(client: Redis, purpose: Purpose): void {
    let away = false;
    const gone = (reason: string): void => {
      this.readiness.report(purpose, false);
      if (!away) this.log.warn({ event: 'redis_away', purpose, reason }, 'Redis is not reachable; trying again');
      away = true;
    };
    client.on('error', (error: Error) => gone(error.message));
    client.on('close', () => gone('connection closed'));
    client.on('ready', () => {
      this.readiness.report(purpose, true);
      if (away) this.log.info({ event: 'redis_back', purpose }, 'Redis is back');
      away = false;
    });
  }
}

/** @throws Error for a worker that was not told where the queue is. */
export function planeOf({ plane }: WorkerSpec): SharedQueueAccess {
  if (!plane) throw new Error('This worker pulls nothing: it was not told of a shared queue.');
  return plane;
}

/** BullMQ's own loop of callbacks, and the subscription, bring back by themselves what they waited for. */
const PATIENT: readonly Purpose[] = ['listen', 'callbacks'];

/**
 * Commands of ours fail as soon as the connection breaks, and while it is away: nobody knows whether those under way were carried out, so
 * they must not be sent twice, and everybody here tries again after a pause. (`maxRetriesPerRequest` 0, for without a number ioredis
 * forgets commands that it does not send again, and their promises never settle.) `READONLY` is what a demoted master answers.
 */
export const connectionOptions = (name: string, purpose: Purpose): RedisOptions => ({
  connectionName: name.replaceAll(/\s/g, '_'),
  ...(PATIENT.includes(purpose)
    ? { maxRetriesPerRequest: null }
    : { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false }),
  retryStrategy: attempt => backoffMs(attempt, { firstMs: 50, longestMs: 2000 }),
  reconnectOnError: ({ message }) => message.startsWith('READONLY'),
});
