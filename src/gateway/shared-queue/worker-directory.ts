import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { type Observable, Subject } from 'rxjs';
import {
  ANNOUNCEMENT_TTL_MS,
  HEARTBEAT_MS,
  readAnnouncement,
  type WorkerAnnouncement,
} from '../../contracts/queue-jobs/queue-messages.js';
import { SharedQueueLink } from './shared-queue-link.js';

/** Whose last heartbeat is this old is not asked for any more, and forgotten; clocks may differ by as much. */
const FORGOTTEN_MS = 100 * ANNOUNCEMENT_TTL_MS;

/** Which workers pull, by what they say of themselves. Read every heartbeat, and at once when one changed. */
@Injectable()
export class WorkerDirectory implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #logger = new Logger(WorkerDirectory.name);
  readonly #changes = new Subject<void>();
  #workers: readonly WorkerAnnouncement[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** A worker came, went, or says something else of itself than before. */
  readonly changes$: Observable<void> = this.#changes.asObservable();

  constructor(private readonly link: SharedQueueLink) {}

  onApplicationBootstrap(): void {
    if (!this.link.enabled) return;
    this.#timer = setInterval(() => void this.look(), HEARTBEAT_MS).unref();
    const listener = this.link.listener();
    listener.on('message', () => void this.look());
    listener.subscribe(this.link.keys.announced).catch(() => undefined);
    this.link.back$.subscribe(() => void this.look());
  }

  onApplicationShutdown(): void {
    clearInterval(this.#timer);
    this.#changes.complete();
  }

  /** Of one model, or all. Nobody is known while Redis is away: nobody could take anything. */
  workers(model?: string): readonly WorkerAnnouncement[] {
    if (!this.link.enabled || !this.link.usable) return [];
    return model === undefined ? this.#workers : this.#workers.filter(worker => worker.model === model);
  }

  /** Some worker takes work of the model now. */
  hasReady(model: string): boolean {
    return this.workers(model).some(({ health }) => health.state === 'ready');
  }

  /** Never rejects: what was known stays until Redis answers. */
  async look(): Promise<void> {
    if (!this.link.usable) return;
    try {
      const before = told(this.#workers);
      this.#workers = await this.#read();
      if (told(this.#workers) !== before) this.#changes.next();
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

/** What makes a difference to somebody who looks. */
const told = (workers: readonly WorkerAnnouncement[]): string =>
  workers.map(({ id, model, health }) => `${id} ${model} ${health.state}`).join('\n');
