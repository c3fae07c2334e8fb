import { createServer } from 'node:http';
import { Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { createAdapter } from '@socket.io/redis-adapter';
import { type FastifyInstance } from 'fastify';
import { type Subscription } from 'rxjs';
import { Server } from 'socket.io';
import { LIVE_NAMESPACE, LIVE_PATH } from '../../../contracts/events/live-event.js';
import { KeyRing } from '../../../platform/auth/key-ring.js';
import { RedisLink } from '../../../platform/redis/redis.module.js';
import { UpgradeRouter } from '../upgrade-router.js';
import { LiveClients, type LiveNamespace } from './live-clients.js';
import { LiveReplicas, type ReplicaMessage } from './live-replicas.js';

/** Clients say little; all the talking is on our side. */
const MAX_MESSAGE_BYTES = 4096;
/** From the opened socket to the key. */
const CONNECT_TIMEOUT_MS = 5000;

/**
 * Socket.IO at `/events/`, namespace `/events`. WebSocket only: long polling would need sticky sessions in front of
 * several gateways. It listens to nothing itself; the upgrade router hands over what is for it.
 */
@Injectable()
export class LiveFeedGateway implements OnModuleInit, OnApplicationBootstrap {
  readonly #doorless = createServer();
  readonly #server = new Server(this.#doorless, {
    path: LIVE_PATH,
    transports: ['websocket'],
    serveClient: false,
    destroyUpgrade: false,
    maxHttpBufferSize: MAX_MESSAGE_BYTES,
    connectTimeout: CONNECT_TIMEOUT_MS,
    perMessageDeflate: false,
  });
  #keys: Subscription | undefined;

  constructor(
    private readonly adapter: HttpAdapterHost,
    private readonly router: UpgradeRouter,
    private readonly keyRing: KeyRing,
    private readonly clients: LiveClients,
    private readonly replicas: LiveReplicas,
    private readonly redis: RedisLink,
  ) {}

  onModuleInit(): void {
    this.router.route(
      path => path === LIVE_PATH,
      (request, socket, head) => void this.#doorless.emit('upgrade', request, socket, head),
    );
    // Open sockets would hold up the end of the HTTP server; by then the drain has told its story.
    const fastify = this.adapter.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('preClose', () => this.#close());
  }

  onApplicationBootstrap(): void {
    // Everybody belongs into the namespace: the unnamed one has no guard.
    this.#server.use((_socket, next) => next(new Error(`Connect to the namespace ${LIVE_NAMESPACE}.`)));
    this.#joinReplicas();
    const namespace = this.#server.of(LIVE_NAMESPACE) as LiveNamespace;
    this.clients.serve(namespace);
    this.#keys = this.keyRing.changed$.subscribe(() => this.clients.expel(namespace));
  }

  #joinReplicas(): void {
    const pair = this.redis.pubSub();
    if (!pair) return;
    this.#server.adapter(createAdapter(pair.publisher, pair.subscriber, { key: this.redis.prefix }));
    const namespace = this.#server.of(LIVE_NAMESPACE);
    namespace.on('replica', (message: ReplicaMessage) => this.replicas.receive(message));
    this.replicas.connect(message => void namespace.serverSideEmit('replica', message));
  }

  async #close(): Promise<void> {
    this.#keys?.unsubscribe();
    this.replicas.disconnect();
    await this.#server.close();
  }
}
