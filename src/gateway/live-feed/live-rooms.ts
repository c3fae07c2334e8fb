import { Injectable } from '@nestjs/common';
import { Subject } from 'rxjs';
import { type LiveDelta, type LiveRoomName } from '../../contracts/events/live-event.js';
import { LiveRoom, type Owned } from './live-room.js';
import { LiveSource } from './live-source.js';

/** The rooms that have listeners. Other rooms do not exist and cost nothing. */
@Injectable()
export class LiveRooms {
  readonly #rooms = new Map<LiveRoomName, LiveRoom>();
  readonly #outgoing = new Subject<Owned<LiveDelta>>();

  /** Changes of this gateway's part for other gateways. */
  readonly outgoing$ = this.#outgoing.asObservable();

  constructor(private readonly source: LiveSource) {}

  get size(): number {
    return this.#rooms.size;
  }

  find(name: LiveRoomName): LiveRoom | undefined {
    return this.#rooms.get(name);
  }

  all(): LiveRoom[] {
    return [...this.#rooms.values()];
  }

  /** The room, with this gateway's part in it from the start. */
  open(name: LiveRoomName): LiveRoom {
    const known = this.#rooms.get(name);
    if (known) return known;
    const room = new LiveRoom(name);
    for (const { state, tenant } of this.source.read(name)) {
      room.adopt({
        message: { room: name, source: this.source.partId(tenant), seq: 0, state },
        tenant,
      });
    }
    this.#rooms.set(name, room);
    return room;
  }

  closeUnwatched(): void {
    for (const room of this.#rooms.values())
      if (!room.isWatched) this.#rooms.delete(room.name);
  }

  /** Sends a change of this gateway's part to all listeners. */
  publish(
    room: LiveRoom,
    change: Pick<LiveDelta, 'set' | 'removed'>,
    tenant?: string,
  ): void {
    const source = this.source.partId(tenant);
    const seq = (room.part(source)?.seq ?? 0) + 1;
    const owned = { message: { room: room.name, source, seq, ...change }, tenant };
    room.apply(owned);
    if (room.isWatchedElsewhere) this.#outgoing.next(owned);
  }
}
