import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { type LiveRoomName } from '../../contracts/events/live-event.js';
import { isTerminal } from '../../core/jobs/batch-status.js';
import { JobStore } from '../../platform/database/job-store.js';
import { LiveFeed } from './live-feed.js';
import { isBatchRoom, LiveSource } from './live-source.js';

const READ_EVERY_MS = 1000;

/**
 * Batches have no events: any processor on any host may run one, and its row is all that
 * gateways share (D-13). So rows are read once a second, while they have listeners, by
 * the gateway of the listener.
 */
@Injectable()
export class LiveBatches implements OnApplicationShutdown {
  readonly #logger = new Logger(LiveBatches.name);
  /** Rooms of batches that are watched, with the tenants of their listeners. */
  readonly #watched = new Map<
    LiveRoomName,
    { readonly tenants: Set<string>; emptyRounds: number }
  >();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(
    private readonly jobs: JobStore,
    private readonly source: LiveSource,
    private readonly feed: LiveFeed,
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
    if (!this.#stopped) this.#timer ??= setTimeout(() => void this.#round(), READ_EVERY_MS).unref();
  }

  async #round(): Promise<void> {
    for (const [room, watched] of this.#watched) {
      // The client that asked is about to join: one round without a listener is
      // not the end.
      watched.emptyRounds = this.feed.find(room) ? 0 : watched.emptyRounds + 1;
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
    const job = await this.jobs.find(tenant, id).catch((error: unknown) => {
      const reason = (error as Error).message;
      this.#logger.warn({ reason }, 'a batch could not be read');
    });
    const changed = job && this.source.readBatch(job);
    const watched = this.feed.find(room);
    if (watched && changed)
      this.feed.publish(watched, { set: { [id]: changed.view } }, changed.tenant);
  }

  #isOver(room: LiveRoomName): boolean {
    const batch = this.source.batch(idOf(room));
    return batch !== undefined && isTerminal(batch.view.status);
  }

  #forget(room: LiveRoomName): void {
    this.#watched.delete(room);
    this.source.forgetBatch(idOf(room));
  }
}

const idOf = (room: LiveRoomName): string => room.slice(room.indexOf(':') + 1);
