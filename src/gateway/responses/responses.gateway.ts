import { type IncomingMessage } from 'node:http';
import { type OnModuleDestroy } from '@nestjs/common';
import {
  type OnGatewayConnection,
  type OnGatewayInit,
  WebSocketGateway,
} from '@nestjs/websockets';
import { type WebSocket } from 'ws';
import { CLOSE } from '../../contracts/realtime/realtime-event.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { Authenticator } from '../../platform/auth/authenticator.js';
import { demandScope, type Principal } from '../../platform/auth/principal.js';
import { Settings } from '../../platform/config/settings.js';
import { shuttingDown } from '../../platform/http/passing-errors.js';
import { requestIdFor } from '../http/request-headers.js';
import { RateLimiter } from '../limits/rate-limiter.js';
import { innerHeaders, InnerRequests } from '../requests/inner-requests.js';
import { ShutdownGrace } from '../scheduler/shutdown-drain.js';
import { ClientSocket } from '../websockets/client-socket.js';
import { type WebSocketGatewayOptions } from '../websockets/composite-websocket-adapter.js';
import { type WebSocketEndpoint } from '../websockets/websocket-endpoint.js';
import { ResponseConnection, type ResponseHost } from './response-connection.js';
import { ResponseFeed } from './response-feed.js';

/** `/v1/responses` as a WebSocket: each message is a request like any other. */
@WebSocketGateway<WebSocketGatewayOptions>({
  protocol: 'ws',
  path: '/v1/responses',
  perMessageDeflate: false,
  // Browsers want one of those that they offer; the key among them is never echoed.
  handleProtocols: offered =>
    [...offered].find(name => !name.startsWith('openai-')) ?? false,
})
export class ResponsesGateway
  implements
    OnGatewayInit<WebSocketEndpoint>,
    OnGatewayConnection<WebSocket>,
    OnModuleDestroy
{
  readonly #callers = new WeakMap<IncomingMessage, Principal>();
  readonly #connections = new Set<ResponseConnection>();
  #closing = false;

  constructor(
    private readonly authenticator: Authenticator,
    private readonly limits: RateLimiter,
    private readonly inner: InnerRequests,
    private readonly feed: ResponseFeed,
    private readonly grace: ShutdownGrace,
    private readonly settings: Settings,
  ) {}

  afterInit(endpoint: WebSocketEndpoint): void {
    endpoint.options.maxPayload = this.settings.server.jsonLimitBytes;
    endpoint.admit = async request => {
      const principal = await this.authenticator.authenticateUpgrade(request);
      demandScope(principal, 'inference');
      this.#demandRoom();
      this.#callers.set(request, principal);
      return () => undefined;
    };
  }

  handleConnection(webSocket: WebSocket, request: IncomingMessage): void {
    const { idleTimeoutMs, ...limits } = this.settings.realtime;
    const socket = new ClientSocket(webSocket, limits);
    const host = this.#hostOf(this.#callers.get(request)!, request);
    const connection = new ResponseConnection(socket, host, idleTimeoutMs);
    this.#connections.add(connection);
    connection.left.addEventListener('abort', () => this.#connections.delete(connection));
  }

  /** The drain waits for what is being answered. */
  onModuleDestroy(): void {
    this.#closing = true;
    const left = [...this.#connections].map(connection =>
      connection.leave(CLOSE.goingAway, 'the server is shutting down'),
    );
    this.grace.waitFor(Promise.all(left));
  }

  #hostOf(principal: Principal, { headers }: IncomingMessage): ResponseHost {
    const { tenant } = principal;
    const json = { 'content-type': 'application/json' };
    const sent = innerHeaders({ ...headers, ...json }, principal);
    return {
      create: async (body, caller) => {
        this.#demandKey(principal);
        const requestId = requestIdFor({ headers: {} });
        const ticket = await this.limits.enter(principal, requestId);
        try {
          const path = '/v1/responses';
          const request = { requestId, tenant, path, headers: sent, body, caller };
          const answer = await this.inner.run(request);
          answer.body.once('close', () => ticket?.leave());
          return answer;
        } catch (error) {
          ticket?.leave();
          throw error;
        }
      },
      resume: async (id, after, left) => {
        this.#demandKey(principal);
        await this.feed.demandEvents({ tenant, id });
        return this.feed.follow({ tenant, id }, after, left);
      },
    };
  }

  #demandKey(principal: Principal): void {
    if (!this.authenticator.isCurrent(principal))
      throw new DomainError('invalid_api_key', 'The API key was withdrawn.');
  }

  #demandRoom(): void {
    if (this.#closing) throw shuttingDown();
    const { maxSessions } = this.settings.realtime;
    if (this.#connections.size < maxSessions) return;
    throw new DomainError(
      'queue_full',
      `The limit of ${maxSessions} connections (realtime.max_sessions) is reached.`,
      { retryAfterMs: 1000 },
    );
  }
}
