import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Inject, Injectable } from '@nestjs/common';
import { backoffMs } from '@switchyard/engine-api/backoff.js';
import { QueueKeys } from '@switchyard/shared-queue/keys.js';
import { RedisClock } from '@switchyard/shared-queue/redis-clock.js';
import { type WorkerLink } from '@switchyard/shared-queue/worker/worker-link.js';
import { Redis, type RedisOptions } from 'ioredis';
import { type Logger } from 'pino';
import { WorkerSpec, type SharedQueueAccess } from '../../platform/config/worker-spec.js';
import { watchRedis } from '../../platform/redis/redis-watch.js';
import { WORKER_LOG } from '../lifecycle/worker-log.js';
import { PullReadiness } from '../lifecycle/worker-state.js';

/** What a connection is for; also its name in `CLIENT LIST`. */
type Purpose = 'work' | 'wait' | 'listen' | 'callbacks';

/**
 * Redis connections of a pull worker. Each reconnects for ever; their state decides
 * the worker's readiness.
 */
@Injectable()
export class PullConnections implements WorkerLink {
  readonly keys: QueueKeys;
  readonly clock = new RedisClock();
  readonly sharedQueue: SharedQueueAccess;
  /**
   * As this worker announces itself. Unique: two gateways give their local workers
   * the same names.
   */
  readonly announcedId: string;
  /** Prefix of this process's lock tokens. */
  readonly owner = randomUUID();
  readonly #clients = new Map<Purpose, Redis>();

  constructor(
    private readonly spec: WorkerSpec,
    @Inject(WORKER_LOG) private readonly log: Logger,
    private readonly readiness: PullReadiness,
  ) {
    if (!spec.sharedQueue) throw new Error('This worker has no shared queue to pull from.');
    this.sharedQueue = spec.sharedQueue;
    this.announcedId = `${spec.workerId}.${hostname()}.${process.pid}`;
    this.keys = new QueueKeys(this.sharedQueue.prefix);
  }

  /** One per purpose, opened when first asked for. */
  for(purpose: Purpose): Redis {
    const found = this.#clients.get(purpose);
    if (found) return found;
    const client = new Redis({
      ...this.sharedQueue.server,
      ...connectionOptions(connectionName(this.spec.workerId, purpose), purpose),
    });
    this.#clients.set(purpose, client);
    // First of all that is sent: whatever reads a reply knows the time.
    if (purpose === 'work') client.on('ready', () => void this.clock.read(client));
    watchRedis(client);
    this.#watch(client, purpose);
    return client;
  }

  close(): void {
    for (const client of this.#clients.values()) client.disconnect();
    this.#clients.clear();
  }

  /**
   * Logs once when the connection is lost and once when it is back; ioredis
   * reports every attempt.
   */
  #watch(client: Redis, purpose: Purpose): void {
    let isAway = false;
    const lost = (reason: string): void => {
      this.readiness.report(purpose, false);
      if (!isAway)
        this.log.warn(
          { event: 'redis_away', purpose, reason },
          'Redis is not reachable; trying again',
        );
      isAway = true;
    };
    client.on('error', (error: Error) => lost(error.message));
    client.on('close', () => lost('connection closed'));
    client.on('ready', () => {
      this.readiness.report(purpose, true);
      if (isAway) this.log.info({ event: 'redis_back', purpose }, 'Redis is back');
      isAway = false;
    });
  }
}

/** As `CLIENT LIST` shows it. */
export const connectionName = (workerId: string, purpose: string): string =>
  `${workerId.replaceAll(/\s/g, '_')}:${purpose}`;

/**
 * Connections whose commands may wait for a reconnect: BullMQ's callback loop,
 * and the subscription.
 */
const WAITING: readonly Purpose[] = ['listen', 'callbacks'];

/**
 * Commands fail as soon as the connection breaks, and while it is down: it is unknown
 * whether those in flight were executed, so they must not be sent twice, and callers
 * retry after a pause. (`maxRetriesPerRequest` 0: without a number ioredis drops
 * commands that it does not resend, and their promises never settle.) A demoted
 * master answers `READONLY`.
 */
const connectionOptions = (name: string, purpose: Purpose): RedisOptions => ({
  connectionName: name,
  ...(WAITING.includes(purpose)
    ? { maxRetriesPerRequest: null }
    : { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false }),
  retryStrategy: attempt => backoffMs(attempt, { firstMs: 50, longestMs: 2000 }),
  reconnectOnError: ({ message }) => message.startsWith('READONLY'),
});
