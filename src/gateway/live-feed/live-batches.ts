import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { type LiveRoomName } from '../../contracts/events/live-event.js';
import { isTerminal } from '../../core/jobs/batch-status.js';
import { isBatchRoom, LiveBatchCache } from './live-batch-cache.js';
import { LiveRooms } from './live-rooms.js';
import { JobStore } from '../../platform/database/job-store.js';

const READ_EVERY_MS = 1000;

interface Watched {
  /** Tenants that asked for it. */
  readonly tenants: Set<string>;
  emptyRounds: number;
}

/**
 * Batches have no events: any processor on any host may run one, and its row is all that
 * gateways share (D-13). So rows are read once a second, while they have listeners, by
 * the gateway of the listener.
 */
@Injectable()
export class LiveBatches implements OnApplicationShutdown {
  readonly #logger = new Logger(LiveBatches.name);
  readonly #watched = new Map<LiveRoomName, Watched>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(
    private readonly jobs: JobStore,
    private readonly cache: LiveBatchCache,
    private readonly rooms: LiveRooms,
  ) {}

  onApplicationShutdown(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /**
   * Before a client of that tenant joins: reads the row. Other tenants' batches look
   * like unknown ones.
   */
  async expect(room: LiveRoomName, tenant: string): Promise<void> {
    if (!isBatchRoom(room)) return;
    const { tenants } = this.#watched.get(room) ?? { tenants: new Set<string>() };
    this.#watched.set(room, { tenants: tenants.add(tenant), emptyRounds: 0 });
    await this.#read(room, tenant);
    if (!this.#stopped)
      this.#timer ??= setTimeout(() => void this.#round(), READ_EVERY_MS).unref();
  }

  async #round(): Promise<void> {
    for (const [room, watched] of this.#watched) {
      // The client that asked is about to join: one round without a listener is
      // not the end.
      watched.emptyRounds = this.rooms.find(room) ? 0 : watched.emptyRounds + 1;
      if (watched.emptyRounds > 1) this.#forget(room);
      else if (!this.#isOver(room))
        for (const tenant of watched.tenants) await this.#read(room, tenant);
    }
    this.#timer = undefined;
    if (this.#watched.size > 0 && !this.#stopped)
      this.#timer = setTimeout(() => void this.#round(), READ_EVERY_MS).unref();
  }

  /** A failed read is repeated in the next round. */
  async #read(room: LiveRoomName, tenant: string): Promise<void> {
    const id = idOf(room);
    try {
      const job = await this.jobs.find(tenant, id);
      if (!job || !this.cache.update(job)) return;
    } catch (error) {
      this.#logger.warn(
        { reason: (error as Error).message },
        'a batch could not be read',
      );
      return;
    }
    const watched = this.rooms.find(room);
    const cached = this.cache.find(id);
    if (watched && cached)
      this.rooms.publish(watched, { set: { [id]: cached.view } }, cached.tenant);
  }

  #isOver(room: LiveRoomName): boolean {
    const cached = this.cache.find(idOf(room));
    return cached !== undefined && isTerminal(cached.view.status);
  }

  #forget(room: LiveRoomName): void {
    this.#watched.delete(room);
    this.cache.forget(idOf(room));
  }
}

const idOf = (room: LiveRoomName): string => room.slice(room.indexOf(':') + 1);
