import { type IncomingMessage } from 'node:http';
import { type OnModuleDestroy } from '@nestjs/common';
import { type OnGatewayConnection, type OnGatewayInit, WebSocketGateway } from '@nestjs/websockets';
import { type WebSocket } from 'ws';
import { CLOSE } from '../../../contracts/realtime/realtime-event.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { SharedBound } from '../../../core/limits/shared-bound.js';
import { Authenticator } from '../../../platform/auth/authenticator.js';
import { demandScope, type Principal } from '../../../platform/auth/principal.js';
import { Settings } from '../../../platform/config/settings.js';
import { shuttingDown } from '../../../platform/http/passing-errors.js';
import { requestIdFor } from '../../http/request-headers.js';
import { ShutdownGrace } from '../../lifecycle/shutdown-drain.js';
import { LimitGuard, receivingPace } from '../../limits/limit-guard.js';
import { innerHeaders, InnerRequests } from '../../requests/inner-requests.js';
import { ClientSocket } from '../../websockets/client-socket.js';
import { type WebSocketGatewayOptions } from '../../websockets/composite-websocket-adapter.js';
import {
  type AdmittedCaller,
  type WebSocketEndpoint,
} from '../../websockets/websocket-endpoint.js';
import { ResponseFeed } from '../stored/response-feed.js';
import { ResponseConnection } from './response-connection.js';

/** Bytes of all requests that are remembered. */
const ALL_REMEMBERED = 256 << 20;
/** Bytes of a client's control frame besides its data. */
const CONTROL_HEAD = 6;

/** `/v1/responses` as a WebSocket: each message is a request like any other. */
@WebSocketGateway<WebSocketGatewayOptions>({
  protocol: 'ws',
  path: '/v1/responses',
  perMessageDeflate: false,
  // Browsers want one of those that they offer; the key among them is never echoed.
  handleProtocols: offered => [...offered].find(name => !name.startsWith('openai-')) ?? false,
})
export class ResponsesGateway
  implements OnGatewayInit<WebSocketEndpoint>, OnGatewayConnection<WebSocket>, OnModuleDestroy
{
  readonly #connections = new Set<ResponseConnection>();
  readonly #remembered = new SharedBound(ALL_REMEMBERED);
  readonly #room: SharedBound;
  #closing = false;

  constructor(
    private readonly authenticator: Authenticator,
    private readonly limits: LimitGuard,
    private readonly inner: InnerRequests,
    private readonly feed: ResponseFeed,
    private readonly grace: ShutdownGrace,
    private readonly settings: Settings,
  ) {
    this.#room = new SharedBound(settings.realtime.maxSessions);
  }

  afterInit(endpoint: WebSocketEndpoint): void {
    endpoint.options.maxPayload = this.settings.server.jsonLimitBytes;
    endpoint.admitBy(async request => {
      const principal = await this.authenticator.authenticateUpgrade(request);
      demandScope(principal, 'inference');
      if (this.#closing) throw shuttingDown();
      // Entered again when the upgrade is done: it may fail.
      const leave = this.#enter(principal);
      if (leave === undefined) throw full(this.settings.realtime.maxSessions);
      leave();
      return { principal };
    });
  }

  handleConnection(
    webSocket: WebSocket,
    request: IncomingMessage,
    { principal }: AdmittedCaller,
  ): void {
    const { realtime } = this.settings;
    const socket = new ClientSocket(webSocket, realtime);
    const host = this.#hostOf(principal, request);
    const connection = new ResponseConnection(socket, host, realtime.idleTimeoutMs);
    const leave = this.#enter(principal, connection);
    if (leave === undefined) return socket.close(CLOSE.tryAgainLater, 'there are too many');
    this.#connections.add(connection);
    request.socket.on('data', (bytes: Buffer) => connection.received(bytes.length));
    const takeBack = (data: Buffer): void => connection.received(-(data.length + CONTROL_HEAD));
    webSocket.on('ping', takeBack).on('pong', takeBack);
    connection.left.addEventListener('abort', () => {
      this.#connections.delete(connection);
      leave();
    });
  }

  /** The drain waits for what is being answered. */
  onModuleDestroy(): void {
    this.#closing = true;
    const left = [...this.#connections].map(connection =>
      connection.leave(CLOSE.goingAway, 'the server is shutting down'),
    );
    this.grace.waitFor(Promise.all(left));
  }

  #hostOf(principal: Principal, request: IncomingMessage) {
    const { headers } = request;
    const { tenant } = principal;
    const json = { 'content-type': 'application/json' };
    const sent = innerHeaders({ ...headers, ...json }, principal);
    return {
      create: async (body: Buffer, caller: AbortSignal) => {
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
      place: (end: () => void) => this.limits.place(tenant, { pace: receivingPace(request), end }),
      remember: (size: number, end: () => void) => this.#remembered.enter(tenant, { size, end }),
      resume: async (id: string, after: number, left: AbortSignal) => {
        this.#demandKey(principal);
        await this.feed.demandEvents({ tenant, id }, after);
        return this.feed.follow({ tenant, id }, after, left);
      },
    };
  }

  #demandKey(principal: Principal): void {
    if (!this.authenticator.isCurrent(principal))
      throw new DomainError('invalid_api_key', 'The API key was withdrawn.');
  }

  /** Full: the idlest connection of the tenant with the most ends (D-51). Undefined: none may. */
  #enter({ tenant }: Principal, connection?: ResponseConnection): (() => void) | undefined {
    return this.#room.enter(tenant, {
      pace: () => connection?.quietSinceMs(this.settings.realtime.quietMs),
      end: () =>
        void connection?.leave(CLOSE.tryAgainLater, 'its place was needed while it was idle'),
    });
  }
}

const full = (maxSessions: number): DomainError =>
  new DomainError(
    'queue_full',
    `The limit of ${maxSessions} connections (realtime.max_sessions) is reached.`,
    { retryAfterMs: 1000 },
  );
