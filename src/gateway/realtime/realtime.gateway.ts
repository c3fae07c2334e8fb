import { type IncomingMessage } from 'node:http';
import { Inject } from '@nestjs/common';
import {
  type OnGatewayConnection,
  type OnGatewayInit,
  WebSocketGateway,
} from '@nestjs/websockets';
import { type WebSocket } from 'ws';
import { errorEvent, CLOSE } from '../../contracts/realtime/realtime-event.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { Authenticator } from '../../platform/auth/authenticator.js';
import { demandScope } from '../../platform/auth/principal.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { type WebSocketGatewayOptions } from '../websockets/composite-websocket-adapter.js';
import { type WebSocketEndpoint } from '../websockets/websocket-endpoint.js';
import { RealtimeSessions } from './realtime-sessions.js';
import { ClientSocket } from '../websockets/client-socket.js';
import { type AdmittedClient, SessionHandshake } from './session-handshake.js';

/** Live sessions: `GET /v1/realtime` as a WebSocket. */
@WebSocketGateway<WebSocketGatewayOptions>({
  protocol: 'ws',
  path: '/v1/realtime',
  perMessageDeflate: false,
  // The key that browsers pass as a subprotocol is never echoed.
  handleProtocols: offered => (offered.has('realtime') ? 'realtime' : false),
})
export class RealtimeGateway
  implements OnGatewayInit<WebSocketEndpoint>, OnGatewayConnection<WebSocket>
{
  readonly #admitted = new WeakMap<IncomingMessage, AdmittedClient>();

  constructor(
    private readonly authenticator: Authenticator,
    private readonly sessions: RealtimeSessions,
    private readonly handshake: SessionHandshake,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  afterInit(endpoint: WebSocketEndpoint): void {
    endpoint.options.maxPayload = this.settings.realtime.maxMessageBytes;
    endpoint.admit = request => this.#admit(request);
  }

  async handleConnection(webSocket: WebSocket, request: IncomingMessage): Promise<void> {
    const { pingIntervalMs, maxBufferedBytes } = this.settings.realtime;
    const socket = new ClientSocket(webSocket, { pingIntervalMs, maxBufferedBytes });
    const client = this.#admitted.get(request)!;
    try {
      await this.handshake.open(socket, request, client);
    } catch (error) {
      client.ticket?.leave();
      const known =
        error instanceof DomainError
          ? error
          : new DomainError('internal_error', 'Something went wrong.');
      socket.send(JSON.stringify({ ...errorEvent(known), event_id: 'event_0' }));
      socket.close(
        known.code === 'internal_error' ? CLOSE.internalError : CLOSE.policyViolation,
        known.code,
      );
    }
  }

  /** What can be refused without a session is refused in HTTP. @throws DomainError */
  async #admit(request: IncomingMessage): Promise<() => void> {
    const principal = await this.authenticator.authenticateUpgrade(request);
    demandScope(principal, 'realtime');
    this.sessions.demandRoom();
    const ticket = await this.handshake.admit(request, principal);
    this.#admitted.set(request, { principal, ticket });
    return () => ticket?.leave();
  }
}
