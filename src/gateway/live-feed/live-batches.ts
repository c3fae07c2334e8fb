import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { type LiveRoomName } from '../../contracts/events/live-event.js';
import { isTerminal } from '../../core/jobs/batch-status.js';
import { type JobStore } from '../../core/jobs/job.ports.js';
import { JOB_STORE } from '../../platform/database/database.tokens.js';
import { isBatchRoom, LiveBatchCache } from './live-batch-cache.js';
import { LiveRooms } from './live-rooms.js';

const LOOK_EVERY_MS = 1000;

interface Watched {
  /** Whose batch it may be: those that asked for it. */
  readonly tenants: Set<string>;
  emptyRounds: number;
}

/**
 * Batches have no events: any processor on any host may run one, and its row is all that gateways share (D-13). So rows are looked at
 * once a second, while somebody listens to them, by the gateway that somebody is connected to.
 */
@Injectable()
export class LiveBatches implements OnApplicationShutdown {
  readonly #logger = new Logger(LiveBatches.name);
  readonly #watched = new Map<LiveRoomName, Watched>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(
    @Inject(JOB_STORE) private readonly jobs: JobStore,
    private readonly book: LiveBatchCache,
    private readonly rooms: LiveRooms,
  ) {}

  onApplicationShutdown(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** Before somebody of that tenant joins: what is known is looked up. Others' batches look like unknown ones. */
  async expect(room: LiveRoomName, tenant: string): Promise<void> {
    if (!isBatchRoom(room)) return;
    const { tenants } = this.#watched.get(room) ?? { tenants: new Set<string>() };
    this.#watched.set(room, { tenants: tenants.add(tenant), emptyRounds: 0 });
    await this.#look(room, tenant);
    if (!this.#stopped) this.#timer ??= setTimeout(() => void this.#round(), LOOK_EVERY_MS).unref();
  }

  async #round(): Promise<void> {
    for (const [room, watched] of this.#watched) {
      // Whoever asked is about to come in: one round without a listener is not the end.
      watched.emptyRounds = this.rooms.find(room) ? 0 : watched.emptyRounds + 1;
      if (watched.emptyRounds > 1) this.#forget(room);
      else if (!this.#isOver(room)) for (const tenant of watched.tenants) await this.#look(room, tenant);
    }
    this.#timer = undefined;
    if (this.#watched.size > 0 && !this.#stopped)
      this.#timer = setTimeout(() => void this.#round(), LOOK_EVERY_MS).unref();
  }

  /** A database that is away now is there the next time. */
  async #look(room: LiveRoomName, tenant: string): Promise<void> {
    const id = idOf(room);
    try {
      const job = await this.jobs.find(tenant, id);
      if (!job || !this.book.update(job)) return;
    } catch (error) {
      this.#logger.warn({ reason: (error as Error).message }, 'a batch could not be looked at');
      return;
    }
    const watched = this.rooms.find(room);
    const booked = this.book.find(id);
    if (watched && booked) this.rooms.publish(watched, { set: { [id]: booked.view } }, booked.tenant);
  }

  #isOver(room: LiveRoomName): boolean {
    const booked = this.book.find(idOf(room));
    return booked !== undefined && isTerminal(booked.view.status);
  }

  #forget(room: LiveRoomName): void {
    this.#watched.delete(room);
    this.book.forget(idOf(room));
  }
}

const idOf = (room: LiveRoomName): string => room.slice(room.indexOf(':') + 1);
