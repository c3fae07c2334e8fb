import { Injectable, Logger } from '@nestjs/common';
import { type Namespace, type Socket } from 'socket.io';
import {
  type ClientToServerEvents,
  type LiveAnswer,
  type LiveRoomName,
  type ServerToClientEvents,
} from '../../contracts/events/live-event.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type CellRate, take, waitMs } from '../../core/limits/cell-rate.js';
import { Authenticator } from '../../platform/auth/authenticator.js';
import { demandScope, type Principal } from '../../platform/auth/principal.js';
import { ProcessClock } from '../../platform/clock/clock.module.js';
import { LiveBatches } from './live-batches.js';
import { LiveFeed } from './live-feed.js';
import { LiveListener, type LiveOutlet } from './live-listener.js';
import { LiveReplicas } from './live-replicas.js';
import { isBatchRoom } from './live-source.js';

/** Messages of one client within a rate. Time is passed in. */
export class MessageAllowance {
  /** Since the last one that was taken. */
  refused = 0;
  #paidMs = 0;

  constructor(private readonly rate: CellRate) {}

  take(nowMs: number): boolean {
    const isAllowed = waitMs(this.rate, this.#paidMs, 1, nowMs) === 0;
    if (isAllowed) this.#paidMs = take(this.rate, this.#paidMs, 1, nowMs);
    this.refused = isAllowed ? 0 : this.refused + 1;
    return isAllowed;
  }
}

interface SocketData {
  principal: Principal;
}
interface BetweenServers {
  replica: (message: never) => void;
}
export type LiveNamespace = Namespace<
  ClientToServerEvents,
  ServerToClientEvents,
  BetweenServers,
  SocketData
>;
export type LiveSocket = Socket<
  ClientToServerEvents,
  ServerToClientEvents,
  BetweenServers,
  SocketData
>;
type Verb = keyof ClientToServerEvents;

const MAX_CLIENTS = 1000;
const MAX_ROOMS = 50;
/** 60 messages at once, and 10 per second in the long run. */
const ALLOWANCE: CellRate = { limit: 60, periodMs: 6000 };
const PER_SECOND = (1000 * ALLOWANCE.limit) / ALLOWANCE.periodMs;
/** A client that ignores this many refusals is disconnected. */
const MAX_REFUSED = 100;

/**
 * Clients of the feed: who may connect, what they may send, and how events reach them.
 */
@Injectable()
export class LiveClients {
  readonly #logger = new Logger(LiveClients.name);

  constructor(
    private readonly authenticator: Authenticator,
    private readonly feed: LiveFeed,
    private readonly replicas: LiveReplicas,
    private readonly batches: LiveBatches,
    private readonly clock: ProcessClock,
  ) {}

  guard(namespace: LiveNamespace): void {
    namespace.use((socket, next) => {
      const admit = (principal: Principal): void => {
        socket.data.principal = principal;
        next();
      };
      this.#admit(namespace, socket).then(admit, (error: unknown) =>
        next(connectError(error)),
      );
    });
  }

  /** Keys changed: disconnects clients whose key was withdrawn. */
  disconnectWithdrawn(namespace: LiveNamespace): void {
    for (const socket of namespace.sockets.values()) {
      if (!this.authenticator.isCurrent(socket.data.principal)) socket.disconnect(true);
    }
  }

  async #admit(namespace: LiveNamespace, { handshake }: LiveSocket): Promise<Principal> {
    const principal = await this.authenticator.authenticateHandshake(handshake);
    demandScope(principal, 'events', 'admin');
    if (namespace.sockets.size < MAX_CLIENTS) return principal;
    throw new DomainError(
      'live_feed_limit',
      `The limit of ${MAX_CLIENTS} clients of the live feed is reached; try again later.`,
    );
  }

  connect(socket: LiveSocket): void {
    const listener = new LiveListener(outletTo(socket));
    const allowance = new MessageAllowance(ALLOWANCE);
    // One after the other: reading a batch takes a while, and its `leave` must not
    // overtake the `join`.
    let turn = Promise.resolve();
    for (const verb of ['join', 'leave', 'sync'] as const) {
      socket.on(verb, (room: unknown, answer: unknown) => {
        const allowed = allowance.take(this.clock.nowMs());
        if (allowance.refused > MAX_REFUSED) socket.disconnect(true);
        turn = turn.then(async () => {
          const name = liveRoomName(room);
          if (allowed && verb === 'join' && name)
            await this.batches.expect(name, socket.data.principal.tenant);
          if (socket.disconnected) return;
          const reply = allowed ? this.#act(verb, room, listener) : slowDown();
          if (typeof answer === 'function')
            (answer as (reply: LiveAnswer) => void)(reply);
        });
      });
    }
    socket.on('disconnect', () => this.feed.leaveAll(listener));
  }

  #act(verb: Verb, value: unknown, listener: LiveListener): LiveAnswer {
    try {
      const room = liveRoomName(value);
      if (!room)
        throw new DomainError(
          'invalid_value',
          'A room is queue, workers, request:<id> or batch:<id>.',
        );
      return this.#answer(verb, room, listener);
    } catch (error) {
      return { ok: false, error: errorEnvelope(this.#known(error)).error };
    }
  }

  #answer(verb: Verb, room: LiveRoomName, listener: LiveListener): LiveAnswer {
    if (verb === 'leave') {
      this.feed.leave(listener, room);
      return { ok: true, room, found: false, snapshots: [] };
    }
    if (verb === 'sync' && !listener.rooms.has(room)) {
      throw new DomainError('invalid_value', `Join ${room} before asking for it again.`);
    }
    if (verb === 'join') this.#join(listener, room);
    const snapshots = this.feed.snapshots(listener, room);
    return {
      ok: true,
      room,
      found: snapshots.some(({ state }) => Object.keys(state).length > 0),
      snapshots,
    };
  }

  #join(listener: LiveListener, room: LiveRoomName): void {
    if (listener.rooms.size >= MAX_ROOMS && !listener.rooms.has(room)) {
      throw new DomainError(
        'live_feed_limit',
        `One connection may be in ${MAX_ROOMS} rooms; leave one first.`,
      );
    }
    if (this.feed.join(listener, room) && !isBatchRoom(room)) this.replicas.ask(room);
  }

  #known(error: unknown): DomainError {
    if (error instanceof DomainError) return error;
    this.#logger.error({ err: error }, 'a message of a live client failed by a defect');
    return new DomainError(
      'internal_error',
      'Something went wrong on our side; the log has the details.',
    );
  }
}

function outletTo(socket: LiveSocket): LiveOutlet {
  // engine.io's buffer of packets that are not sent yet is private in its types, and there
  // is no other way to read it.
  const conn = socket.conn as unknown as {
    readonly writeBuffer: readonly unknown[];
    readonly transport: { readonly socket?: { readonly bufferedAmount: number } };
  };
  return {
    principal: socket.data.principal,
    send: (event: 'delta' | 'snapshot' | 'gone', message: never) =>
      void socket.emit(event, message),
    pending: () => ({
      messages: conn.writeBuffer.length,
      bytes: conn.transport.socket?.bufferedAmount ?? 0,
    }),
  };
}

const slowDown = (): LiveAnswer => {
  const message = `At most ${PER_SECOND} messages per second; slow down.`;
  return {
    ok: false,
    error: errorEnvelope(new DomainError('live_feed_limit', message)).error,
  };
};

/** For the client's `connect_error`: the message, and the envelope as `data`. */
function connectError(error: unknown): Error {
  const { message, data } =
    error instanceof DomainError
      ? { message: error.message, data: errorEnvelope(error) }
      : { message: 'The connection failed on our side.', data: undefined };
  return Object.assign(new Error(message), { data });
}

/** Undefined for what is no room. Ids are request ids as `X-Request-Id` takes them. */
function liveRoomName(value: unknown): LiveRoomName | undefined {
  const isRoom =
    typeof value === 'string' &&
    /^(queue|workers|(request|batch):[A-Za-z0-9._:-]{1,128})$/.test(value);
  return isRoom ? (value as LiveRoomName) : undefined;
}
