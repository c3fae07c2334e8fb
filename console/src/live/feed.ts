import { signal } from '@preact/signals';
import { io } from 'socket.io-client';
import {
  LIVE_NAMESPACE,
  LIVE_PATH,
  type LiveAnswer,
  type LiveDelta,
  type LiveEntry,
  type LiveGone,
  type LiveRoomName,
  type LiveSnapshot,
} from '../../../src/contracts/events/live-event';
import { LiveView } from '../../../src/contracts/events/live-view';

type FeedState = 'connecting' | 'live' | 'lost';

export const feedState = signal<FeedState>('connecting');
export const feedProblem = signal('');

type Show = (entries: readonly LiveEntry[]) => void;

/** A room that a view shows: what the gateways sent of it, and its subscribers. */
class Room {
  readonly shows = new Set<Show>();
  view: LiveView;

  constructor(readonly name: LiveRoomName) {
    this.view = new LiveView(name);
  }

  entries(): LiveEntry[] {
    return this.view.snapshots().flatMap(({ state }) => Object.values(state));
  }
}

/**
 * The live feed. Messages change the views at once, which is cheap; what depends on them
 * is told once per frame, however many messages came.
 */
class Feed {
  readonly #rooms = new Map<LiveRoomName, Room>();
  readonly #dirty = new Set<Room>();
  #scheduled = false;
  readonly #socket = io(LIVE_NAMESPACE, {
    path: LIVE_PATH,
    transports: ['websocket'],
    autoConnect: false,
  });

  constructor() {
    this.#socket.on('connect', () => this.#rejoin());
    this.#socket.on('disconnect', () => this.#lost('The connection is lost; trying again.'));
    this.#socket.on('connect_error', ({ message }: Error) => this.#lost(message));
    this.#socket.on('snapshot', (snapshot: LiveSnapshot) => this.#adopt([snapshot]));
    this.#socket.on('delta', (delta: LiveDelta) => this.#apply(delta));
    this.#socket.on('gone', (gone: LiveGone) => this.#drop(gone));
  }

  open(): void {
    this.#socket.connect();
  }

  close(): void {
    this.#socket.disconnect();
    feedState.value = 'connecting';
  }

  /** @returns how to leave */
  watch(name: LiveRoomName, show: Show): () => void {
    const room = this.#rooms.get(name) ?? new Room(name);
    if (room.shows.size === 0) {
      this.#rooms.set(name, room);
      if (this.#socket.connected) this.#ask('join', room);
    } else show(room.entries());
    room.shows.add(show);
    return () => {
      room.shows.delete(show);
      if (room.shows.size > 0) return;
      this.#rooms.delete(name);
      if (this.#socket.connected) this.#socket.emit('leave', name, () => undefined);
    };
  }

  /**
   * A gateway that started again numbers its changes anew: what was known before
   * counts for nothing.
   */
  #rejoin(): void {
    feedState.value = 'live';
    feedProblem.value = '';
    for (const room of this.#rooms.values()) {
      room.view = new LiveView(room.name);
      this.#ask('join', room);
    }
  }

  #ask(verb: 'join' | 'sync', { name }: Room): void {
    this.#socket.emit(verb, name, (answer: LiveAnswer) => {
      if (answer.ok) this.#adopt(answer.snapshots);
      else feedProblem.value = answer.error.message;
    });
  }

  #adopt(snapshots: readonly LiveSnapshot[]): void {
    for (const snapshot of snapshots) {
      const room = this.#rooms.get(snapshot.room);
      room?.view.adopt(snapshot);
      this.#touch(room);
    }
  }

  #apply(delta: LiveDelta): void {
    const room = this.#rooms.get(delta.room);
    if (room && !room.view.apply(delta)) this.#ask('sync', room);
    this.#touch(room);
  }

  #drop(gone: LiveGone): void {
    const room = this.#rooms.get(gone.room);
    room?.view.drop(gone);
    this.#touch(room);
  }

  #lost(message: string): void {
    feedState.value = 'lost';
    feedProblem.value = message;
  }

  #touch(room: Room | undefined): void {
    if (!room) return;
    this.#dirty.add(room);
    if (this.#scheduled) return;
    this.#scheduled = true;
    // Hidden pages get no frames.
    if (document.hidden) setTimeout(() => this.#flush(), 1000);
    else requestAnimationFrame(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    for (const room of this.#dirty) for (const show of room.shows) show(room.entries());
    this.#dirty.clear();
  }
}

export const feed = new Feed();
