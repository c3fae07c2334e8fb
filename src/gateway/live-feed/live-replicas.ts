import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { createAdapter } from '@socket.io/redis-adapter';
import { type Namespace } from 'socket.io';
import {
  type ClientToServerEvents,
  type LiveDelta,
  type LiveRoomName,
  type LiveSnapshot,
  type ServerToClientEvents,
} from '../../contracts/events/live-event.js';
import { type Principal } from '../../platform/auth/principal.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { RedisLink } from '../../platform/redis/redis.module.js';
import { LiveFeed } from './live-feed.js';
import { isBatchRoom, LiveSource, partTenant } from './live-source.js';

/** Messages between gateways. `from` names the sender. */
type ReplicaMessage =
  /**
   * The sender has listeners in these rooms. `fresh`: it needs the parts of others now.
   */
  | {
      readonly type: 'watch';
      readonly from: string;
      readonly rooms: readonly LiveRoomName[];
      readonly fresh: boolean;
    }
  | {
      readonly type: 'snapshot';
      readonly from: string;
      readonly to: string;
      readonly message: LiveSnapshot;
      /** As `source` says, for gateways of earlier releases. */
      readonly tenant: string | undefined;
    }
  | {
      readonly type: 'delta';
      readonly from: string;
      readonly message: LiveDelta;
      readonly tenant: string | undefined;
    }
  | { readonly type: 'bye'; readonly from: string };

/** The clients of this gateway, and a channel to other gateways. */
export type LiveNamespace = Namespace<
  ClientToServerEvents,
  ServerToClientEvents,
  { replica: (message: ReplicaMessage) => void },
  { principal: Principal }
>;

const HEARTBEAT_MS = 5000;
/** Three missed heartbeats: that gateway is gone. */
const LEASE_MS = 15_000;

/**
 * Joins the feeds of several gateways. Each has its own part of a room, which
 * others get while they have listeners there: a room without listeners costs no
 * message between gateways.
 */
@Injectable()
export class LiveReplicas implements OnApplicationShutdown {
  readonly #lastMessageMs = new Map<string, number>();
  readonly #asked = new Set<string>();
  #send: ((message: ReplicaMessage) => void) | undefined;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(
    private readonly source: LiveSource,
    private readonly feed: LiveFeed,
    private readonly clock: ProcessClock,
    private readonly redis: RedisLink,
  ) {}

  /** From now on other gateways are reached, if there is a Redis. */
  connect(namespace: LiveNamespace): void {
    const pair = this.redis.pubSub();
    if (!pair) return;
    namespace.server.adapter(
      createAdapter(pair.publisher, pair.subscriber, { key: this.redis.prefix }),
    );
    namespace.on('replica', message => this.#receive(message));
    this.#send = message => void namespace.serverSideEmit('replica', message);
    const from = this.source.id;
    this.feed.outgoing$.subscribe(message =>
      this.#send?.({ type: 'delta', from, message, tenant: partTenant(message) }),
    );
    this.#heartbeat = setInterval(() => this.#onHeartbeat(), HEARTBEAT_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.#heartbeat);
    this.#send?.({ type: 'bye', from: this.source.id });
    this.#send = undefined;
  }

  /**
   * The first listener joined that room here, or a change of another gateway was lost.
   */
  ask(room: LiveRoomName): void {
    if (isBatchRoom(room)) return;
    this.#send?.({ type: 'watch', from: this.source.id, rooms: [room], fresh: true });
  }

  #receive(message: ReplicaMessage): void {
    if (message.from === this.source.id) return;
    this.#lastMessageMs.set(message.from, this.clock.nowMs());
    switch (message.type) {
      case 'watch':
        return this.#watched(message);
      case 'snapshot':
        return this.#adopt(message);
      case 'delta':
        return this.#apply(message);
      case 'bye':
        return this.#forget(message.from);
    }
  }

  #watched({ from, rooms, fresh }: Extract<ReplicaMessage, { type: 'watch' }>): void {
    for (const name of rooms) {
      const room = this.feed.open(name);
      // A request that was lost, or came before this gateway listened, is answered at
      // the next heartbeat.
      const isNew = room.watch(from, this.clock.nowMs() + LEASE_MS);
      if (!fresh && !isNew) continue;
      for (const message of room.partsOf(this.source.id)) {
        const tenant = partTenant(message);
        this.#send?.({
          type: 'snapshot',
          from: this.source.id,
          to: from,
          message,
          tenant,
        });
      }
    }
    this.feed.watchWorkers();
  }

  #adopt({ to, message }: Extract<ReplicaMessage, { type: 'snapshot' }>): void {
    this.#asked.delete(askKey(message));
    const room = this.feed.find(message.room);
    if (to === this.source.id && room && room.listeners.size > 0) room.adopt(message);
  }

  #apply({ message }: Extract<ReplicaMessage, { type: 'delta' }>): void {
    const room = this.feed.find(message.room);
    if (!room || room.listeners.size === 0 || room.apply(message)) return;
    if (this.#asked.has(askKey(message))) return;
    this.#asked.add(askKey(message));
    this.ask(message.room);
  }

  #onHeartbeat(): void {
    const nowMs = this.clock.nowMs();
    // A request whose answer was lost is sent again after the next gap.
    this.#asked.clear();
    const rooms = this.feed.all();
    const listened = rooms.filter(
      ({ name, listeners }) => listeners.size > 0 && !isBatchRoom(name),
    );
    const own = listened.map(({ name }) => name);
    this.#send?.({ type: 'watch', from: this.source.id, rooms: own, fresh: false });
    for (const room of rooms) room.expireWatchers(nowMs);
    for (const [source, atMs] of this.#lastMessageMs)
      if (nowMs - atMs > LEASE_MS) this.#forget(source);
    this.feed.settle();
  }

  #forget(source: string): void {
    this.#lastMessageMs.delete(source);
    for (const room of this.feed.all()) room.drop(source);
    this.feed.settle();
  }
}

const askKey = ({ room, source }: Pick<LiveDelta, 'room' | 'source'>): string =>
  `${source} ${room}`;
