import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import {
  ANNOUNCEMENT_TTL_MS,
  DRAINED_TTL_MS,
  HEARTBEAT_MS,
  readAnnouncement,
  type WorkerAnnouncement,
} from '../../contracts/queue-jobs/queue-messages.js';
import { SharedQueueLink } from './shared-queue-link.js';

/** A worker whose last heartbeat is this old is removed; the clocks of two machines may differ by as much. */
const FORGOTTEN_MS = 100 * ANNOUNCEMENT_TTL_MS;

/** The workers that pull, by their announcements. Read every heartbeat, and at once when one changed. */
@Injectable()
export class WorkerDirectory implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #logger = new Logger(WorkerDirectory.name);
  #workers: readonly WorkerAnnouncement[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly link: SharedQueueLink) {}

  onApplicationBootstrap(): void {
    if (!this.link.enabled) return;
    this.#timer = setInterval(() => void this.refresh(), HEARTBEAT_MS).unref();
    const listener = this.link.listener();
    listener.on('message', () => void this.refresh());
    listener.subscribe(this.link.keys.announced).catch(() => undefined);
    this.link.back$.subscribe(() => void this.refresh());
  }

  onApplicationShutdown(): void {
    clearInterval(this.#timer);
  }

  /** Of one model, or all. None while Redis is away: no worker could take anything. */
  workers(model?: string): readonly WorkerAnnouncement[] {
    if (!this.link.enabled || !this.link.usable) return [];
    return model === undefined ? this.#workers : this.#workers.filter(worker => worker.model === model);
  }

  /** Some worker takes work of the model now. */
  hasReady(model: string): boolean {
    return this.workers(model).some(({ health, drained }) => health.state === 'ready' && !drained);
  }

  /** It sees that with its next heartbeat. @throws DomainError `queue_unavailable` */
  async drain(id: string, drained: boolean): Promise<void> {
    this.link.demand();
    const { redis, keys } = this.link;
    try {
      if (drained) await redis.set(keys.drained(id), '1', 'PX', DRAINED_TTL_MS);
      else await redis.del(keys.drained(id));
    } catch (error) {
      throw this.link.failure(error);
    }
  }

  /** Never rejects: the last announcements stay until Redis answers. */
  async refresh(): Promise<void> {
    if (!this.link.usable) return;
    try {
      this.#workers = await this.#read();
    } catch (error) {
      this.#logger.debug({ err: error }, 'reading announcements failed');
    }
  }

  async #read(): Promise<WorkerAnnouncement[]> {
    const { redis, keys } = this.link;
    await redis.zremrangebyscore(keys.workers, '-inf', Date.now() - FORGOTTEN_MS);
    const ids = await redis.zrange(keys.workers, 0, '-1');
    if (ids.length === 0) return [];
    const found = (await redis.mget(ids.map(id => keys.worker(id)))).map(readAnnouncement);
    return found.filter(worker => worker !== undefined).sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}
