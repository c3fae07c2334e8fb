import { type IncomingMessage } from 'node:http';
import { type Duplex } from 'node:stream';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { type WebSocket, WebSocketServer } from 'ws';
import { CLOSE } from '../../contracts/realtime/close-code.js';
import { errorEvent } from '../../contracts/realtime/server-event.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { Authenticator } from '../../platform/auth/authenticator.js';
import { demandScope } from '../../platform/auth/principal.js';
import { SETTINGS, type Settings } from '../../platform/config/settings.js';
import { RealtimeSessions } from './realtime-sessions.js';
import { RealtimeSocket } from './realtime-socket.js';
import { SessionDoor, type Visitor } from './session-door.js';
import { refuseUpgrade, UpgradeRouter } from './upgrade-router.js';

const PATH = /^\/v1\/realtime\/?$/;

/** The door of live sessions: `GET /v1/realtime` as a WebSocket. */
@Injectable()
export class RealtimeGateway implements OnModuleInit {
  readonly #server: WebSocketServer;

  constructor(
    private readonly router: UpgradeRouter,
    private readonly authenticator: Authenticator,
    private readonly sessions: RealtimeSessions,
    private readonly door: SessionDoor,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: settings.realtime.maxMessageBytes,
      perMessageDeflate: false,
      // The key that browsers pass as a subprotocol is never echoed.
      handleProtocols: offered => (offered.has('realtime') ? 'realtime' : false),
    });
  }

  onModuleInit(): void {
    this.router.route(
      path => PATH.test(path),
      (request, socket, head) => void this.#upgrade(request, socket, head),
    );
  }

  /** What can be refused without a session is refused in HTTP, where every client understands it. */
  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    let visitor: Visitor;
    try {
      const principal = this.authenticator.authenticateUpgrade(request);
      demandScope(principal, 'realtime');
      this.sessions.demandRoom();
      visitor = { principal, ticket: await this.door.admit(request, principal) };
    } catch (error) {
      return refuseUpgrade(socket, error);
    }
    // `ws` destroys what it cannot upgrade, such as a socket whose peer has gone meanwhile, and calls nobody.
    const leave = () => visitor.ticket?.leave();
    if (socket.destroyed) return leave();
    socket.once('close', leave);
    this.#server.handleUpgrade(request, socket, head, webSocket => {
      socket.off('close', leave);
      void this.#accept(webSocket, request, visitor);
    });
  }

  async #accept(webSocket: WebSocket, request: IncomingMessage, visitor: Visitor): Promise<void> {
    const { pingIntervalMs, maxBufferedBytes } = this.settings.realtime;
    const socket = new RealtimeSocket(webSocket, { pingIntervalMs, maxBufferedBytes });
    try {
      await this.door.enter(socket, request, visitor);
    } catch (error) {
      visitor.ticket?.leave();
      const known = error instanceof DomainError ? error : new DomainError('internal_error', 'Something went wrong.');
      socket.send(JSON.stringify({ ...errorEvent(known), event_id: 'event_0' }));
      socket.close(known.code === 'internal_error' ? CLOSE.internalError : CLOSE.policyViolation, known.code);
    }
  }
}
