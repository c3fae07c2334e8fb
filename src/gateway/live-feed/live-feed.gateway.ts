import { type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import {
  type OnGatewayConnection,
  WebSocketGateway,
  WebSocketServer,
} from '@nestjs/websockets';
import { createAdapter } from '@socket.io/redis-adapter';
import { type Subscription } from 'rxjs';
import { LIVE_NAMESPACE, LIVE_PATH } from '../../contracts/events/live-event.js';
import { KeyRing } from '../../platform/auth/key-ring.js';
import { RedisLink } from '../../platform/redis/redis.module.js';
import { type WebSocketGatewayOptions } from '../websockets/composite-websocket-adapter.js';
import { LiveClients, type LiveNamespace, type LiveSocket } from './live-clients.js';
import { LiveReplicas, type ReplicaMessage } from './live-replicas.js';

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
export class LiveFeedGateway
  implements
    OnGatewayConnection<LiveSocket>,
    OnApplicationBootstrap,
    OnApplicationShutdown
{
  @WebSocketServer() private readonly namespace!: LiveNamespace;
  readonly #unadmitted = new WeakMap<object, NodeJS.Timeout>();
  #keys: Subscription | undefined;

  constructor(
    private readonly keyRing: KeyRing,
    private readonly clients: LiveClients,
    private readonly replicas: LiveReplicas,
    private readonly redis: RedisLink,
  ) {}

  onApplicationBootstrap(): void {
    // The unnamed namespace has no guard.
    this.namespace.server.use((_socket, next) =>
      next(new Error(`Connect to the namespace ${LIVE_NAMESPACE}.`)),
    );
    this.namespace.server.engine.on('connection', (socket: EngineSocket) =>
      this.#bound(socket),
    );
    this.#joinReplicas();
    this.clients.guard(this.namespace);
    this.#keys = this.keyRing.changed$.subscribe(() =>
      this.clients.disconnectWithdrawn(this.namespace),
    );
  }

  handleConnection(socket: LiveSocket): void {
    clearTimeout(this.#unadmitted.get(socket.conn));
    this.clients.connect(socket);
  }

  onApplicationShutdown(): void {
    this.#keys?.unsubscribe();
  }

  /** Who shows no key in time is gone soon after, whatever it answers. */
  #bound(socket: EngineSocket): void {
    const { transport } = socket;
    const timer = setTimeout(
      () => transport.socket?.terminate(),
      CONNECT_MS + CLOSE_MS,
    ).unref();
    this.#unadmitted.set(socket, timer);
  }

  #joinReplicas(): void {
    const pair = this.redis.pubSub();
    if (!pair) return;
    this.namespace.server.adapter(
      createAdapter(pair.publisher, pair.subscriber, { key: this.redis.prefix }),
    );
    this.namespace.on('replica', (message: ReplicaMessage) =>
      this.replicas.receive(message),
    );
    this.replicas.connect(
      message => void this.namespace.serverSideEmit('replica', message as never),
    );
  }
}
