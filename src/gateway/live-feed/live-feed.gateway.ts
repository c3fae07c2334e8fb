import { Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { type OnGatewayConnection, WebSocketGateway, WebSocketServer } from '@nestjs/websockets';
import {
  type ClientToServerEvents,
  LIVE_NAMESPACE,
  LIVE_PATH,
  type LiveAnswer,
  type LiveRoomName,
} from '../../contracts/events/live-event.js';
import { errorEnvelope } from '../../contracts/openai/error-envelope.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type CellRate, take, waitMs } from '../../core/limits/cell-rate.js';
import { SharedBound } from '../../core/limits/shared-bound.js';
import { Authenticator } from '../../platform/auth/authenticator.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { demandScope, type Principal } from '../../platform/auth/principal.js';
import { ProcessClock } from '../../platform/clock/process-clock.js';
import { type WebSocketGatewayOptions } from '../websockets/composite-websocket-adapter.js';
import { LiveBatches } from './live-batches.js';
import { LiveFeed } from './live-feed.js';
import { LiveListener } from './live-listener.js';
import { type LiveNamespace, LiveReplicas } from './live-replicas.js';

/**
 * Messages of one client within a rate. @returns takes one at an instant, and returns how
 * many were refused since the last that was taken
 */
export function messageAllowance(rate: CellRate): (nowMs: number) => number {
  let paidMs = 0;
  let refused = 0;
  return nowMs => {
    const isAllowed = waitMs(rate, paidMs, 1, nowMs) === 0;
    if (isAllowed) paidMs = take(rate, paidMs, 1, nowMs);
    return (refused = isAllowed ? 0 : refused + 1);
  };
}

type LiveSocket = Parameters<Parameters<LiveNamespace['use']>[0]>[0];
type Verb = keyof ClientToServerEvents;

const MAX_CLIENTS = 1000;
const MAX_ROOMS = 50;
/** 60 messages at once, and 10 per second in the long run. */
const ALLOWANCE: CellRate = { limit: 60, periodMs: 6000 };
const PER_SECOND = (1000 * ALLOWANCE.limit) / ALLOWANCE.periodMs;
/** A client that ignores this many refusals is disconnected. */
const MAX_REFUSED = 100;

const CONNECT_MS = 5000;
/**
 * For the answer to a close frame; `ws` would wait 30 s for it, also where no
 * key was shown.
 */
const CLOSE_MS = 1000;

/**
 * What is used here of an engine.io socket; `transport.socket` is missing in its types.
 */
interface EngineSocket {
  readonly transport: { readonly socket?: { terminate(): void } };
}

/**
 * Socket.IO at `/events/`, namespace `/events`. WebSocket only: long polling would
 * need sticky sessions in front of several gateways. Clients send little, so their
 * messages are small.
 */
@WebSocketGateway<WebSocketGatewayOptions>({
  protocol: 'socket.io',
  path: LIVE_PATH,
  namespace: LIVE_NAMESPACE,
  transports: ['websocket'],
  serveClient: false,
  maxHttpBufferSize: 4096,
  // From the opened socket to the key.
  connectTimeout: CONNECT_MS,
  perMessageDeflate: false,
})
export class LiveFeedGateway implements OnGatewayConnection<LiveSocket>, OnApplicationBootstrap {
  @WebSocketServer() private readonly namespace!: LiveNamespace;
  readonly #logger = new Logger('LiveClients');
  readonly #unadmitted = new WeakMap<object, NodeJS.Timeout>();
  /** Full: a client of the tenant with the most gives its place to another tenant (D-51). */
  readonly #room = new SharedBound(MAX_CLIENTS);

  constructor(
    private readonly keyRing: KeyRing,
    private readonly authenticator: Authenticator,
    private readonly feed: LiveFeed,
    private readonly replicas: LiveReplicas,
    private readonly batches: LiveBatches,
    private readonly clock: ProcessClock,
  ) {}

  onApplicationBootstrap(): void {
    const { server } = this.namespace;
    // The unnamed namespace has no guard.
    server.use((_socket, next) => next(new Error(`Connect to the namespace ${LIVE_NAMESPACE}.`)));
    server.engine.on('connection', (socket: EngineSocket) => this.#bound(socket));
    this.replicas.connect(this.namespace);
    this.namespace.use((socket, next) => {
      const admit = (principal: Principal): void => {
        socket.data.principal = principal;
        next();
      };
      this.#admit(socket).then(admit, (error: unknown) => next(connectError(error)));
    });
    this.keyRing.changed$.subscribe(() => this.#disconnectWithdrawn());
  }

  handleConnection(socket: LiveSocket): void {
    clearTimeout(this.#unadmitted.get(socket.conn));
    const listener = new LiveListener(outletTo(socket));
    const refusals = messageAllowance(ALLOWANCE);
    // One after the other: reading a batch takes a while, and its `leave` must not
    // overtake the `join`.
    let turn = Promise.resolve();
    for (const verb of ['join', 'leave', 'sync'] as const) {
      socket.on(verb, (room: unknown, answer: unknown) => {
        const refused = refusals(this.clock.nowMs());
        const allowed = refused === 0;
        if (refused > MAX_REFUSED) socket.disconnect(true);
        turn = turn.then(async () => {
          const name = liveRoomName(room);
          if (allowed && verb === 'join' && name)
            await this.batches.expect(name, socket.data.principal.tenant);
          if (socket.disconnected) return;
          const reply = this.#reply(() => {
            if (!allowed) throw slowDown();
            return this.#answer(verb, name, listener);
          });
          if (typeof answer === 'function') (answer as (reply: LiveAnswer) => void)(reply);
        });
      });
    }
    socket.on('disconnect', () => this.feed.leaveAll(listener));
  }

  /** Who shows no key in time is gone soon after, whatever it answers. */
  #bound(socket: EngineSocket): void {
    const { transport } = socket;
    const timer = setTimeout(() => transport.socket?.terminate(), CONNECT_MS + CLOSE_MS).unref();
    this.#unadmitted.set(socket, timer);
  }

  /** Keys changed: disconnects clients whose key was withdrawn. */
  #disconnectWithdrawn(): void {
    for (const socket of this.namespace.sockets.values())
      if (!this.authenticator.isCurrent(socket.data.principal)) socket.disconnect(true);
  }

  async #admit(socket: LiveSocket): Promise<Principal> {
    const principal = await this.authenticator.authenticateHandshake(socket.handshake);
    demandScope(principal, 'events', 'admin');
    const { conn } = socket;
    const claim = { end: () => conn.close(), pace: () => 0 };
    const leave =
      conn.readyState === 'open' ? this.#room.enter(principal.tenant, claim) : undefined;
    if (leave) {
      socket.once('disconnect', leave);
      // Where it goes before it is connected.
      conn.once('close', leave);
      return principal;
    }
    throw new DomainError(
      'live_feed_limit',
      `The limit of ${MAX_CLIENTS} clients of the live feed is reached; try again later.`,
    );
  }

  #reply(answer: () => LiveAnswer): LiveAnswer {
    try {
      return answer();
    } catch (error) {
      return { ok: false, error: errorEnvelope(this.#known(error)).error };
    }
  }

  #answer(verb: Verb, room: LiveRoomName | undefined, listener: LiveListener): LiveAnswer {
    if (!room)
      throw new DomainError(
        'invalid_value',
        'A room is queue, workers, request:<id> or batch:<id>.',
      );
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
    if (this.feed.join(listener, room)) this.replicas.ask(room);
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

function outletTo(socket: LiveSocket): ConstructorParameters<typeof LiveListener>[0] {
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

const slowDown = (): DomainError =>
  new DomainError('live_feed_limit', `At most ${PER_SECOND} messages per second; slow down.`);

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
