import {
  type LiveDelta,
  type LiveGone,
  type LiveRoomName,
  type LiveSnapshot,
} from '../../contracts/events/live-event.js';
import { mayTouch, type Principal } from '../../platform/auth/principal.js';

const MAX_PENDING_MESSAGES = 64;
const MAX_PENDING_BYTES = 262_144;

/**
 * One client of the feed. A slow one gets no deltas until it has read everything, then
 * snapshots of the rooms that changed meanwhile, so that the memory for it is bounded.
 */
export class LiveListener {
  readonly rooms = new Set<LiveRoomName>();
  readonly #missed = new Set<LiveRoomName>();

  constructor(
    /** The connection to the client, and how much is pending on it. */
    private readonly outlet: {
      readonly principal: Principal;
      send(
        event: 'delta' | 'snapshot' | 'gone',
        message: LiveDelta | LiveSnapshot | LiveGone,
      ): void;
      /** Sent and not yet taken by the network: messages and bytes. */
      pending(): { readonly messages: number; readonly bytes: number };
    },
  ) {}

  get lagging(): boolean {
    return this.#missed.size > 0;
  }

  /** @param tenant undefined: visible to all */
  sees(tenant: string | undefined): boolean {
    return tenant === undefined || mayTouch(this.outlet.principal, tenant);
  }

  send(event: 'delta' | 'snapshot', message: LiveDelta | LiveSnapshot): void {
    const { messages, bytes } = this.outlet.pending();
    const isFull = messages >= MAX_PENDING_MESSAGES || bytes >= MAX_PENDING_BYTES;
    if (this.lagging || isFull) this.#missed.add(message.room);
    else this.outlet.send(event, message);
  }

  gone(gone: LiveGone): void {
    this.outlet.send('gone', gone);
  }

  left(room: LiveRoomName): void {
    this.rooms.delete(room);
    this.#missed.delete(room);
  }

  /** Called at most once a second. Sends only when everything before was taken. */
  catchUp(snapshotsOf: (room: LiveRoomName) => readonly LiveSnapshot[]): void {
    const { messages, bytes } = this.outlet.pending();
    if (messages > 0 || bytes > 0) return;
    const missed = [...this.#missed];
    this.#missed.clear();
    for (const room of missed)
      for (const snapshot of snapshotsOf(room)) this.outlet.send('snapshot', snapshot);
  }
}
