import { type IncomingMessage, type Server } from 'node:http';
import { type Duplex } from 'node:stream';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { errorEnvelope, retryHeaders } from '../../contracts/openai/error-envelope.js';
import { DomainError } from '../../core/shared/domain-error.js';
import { OriginGuard } from '../../platform/auth/origin-guard.js';
import { endConnection } from '../../platform/http/connections.js';
import { demandHandshake } from './websocket-handshake.js';

/** Takes over the connection: from here on the socket is the handler's. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

interface Route {
  readonly matches: (path: string) => boolean;
  readonly handler: UpgradeHandler;
}

type UpgradingServer = Server & { shouldUpgradeCallback?: (request: IncomingMessage) => boolean };

/**
 * The one listener of the HTTP server's `upgrade` event. WebSocket requests go to the first route whose predicate takes
 * their path (without query) when their origin may connect; others get 404. Requests that merely offer HTTP/2 (`Upgrade: h2c`) stay ordinary ones.
 */
@Injectable()
export class UpgradeRouter implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #routes: Route[] = [];
  readonly #onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    this.#dispatch(request, socket, head);

  constructor(
    private readonly adapter: HttpAdapterHost,
    private readonly origins: OriginGuard,
  ) {}

  /** @param matches is given the path of the request, without its query */
  route(matches: (path: string) => boolean, handler: UpgradeHandler): void {
    this.#routes.push({ matches, handler });
  }

  onApplicationBootstrap(): void {
    const server = this.#server();
    server.shouldUpgradeCallback = ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket';
    server.on('upgrade', this.#onUpgrade);
  }

  onApplicationShutdown(): void {
    this.#server().off('upgrade', this.#onUpgrade);
  }

  #server(): UpgradingServer {
    return this.adapter.httpAdapter.getHttpServer() as UpgradingServer;
  }

  #dispatch(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // A peer that resets the connection before anybody listens must not end the process.
    socket.on('error', () => socket.destroy());
    try {
      const route = this.#routeOf(request);
      demandHandshake(request);
      this.origins.demandUpgrade(request.headers);
      route.handler(request, socket, head);
    } catch (error) {
      refuseUpgrade(socket, error);
    }
  }

  #routeOf({ url = '' }: IncomingMessage): Route {
    const path = url.split('?', 1)[0] ?? '';
    const route = this.#routes.find(({ matches }) => matches(path));
    if (route) return route;
    throw new DomainError('unknown_url', `No WebSocket is served at ${path.slice(0, 200)}.`);
  }
}

/** Answers an upgrade that is not wanted with the usual error envelope, and closes the connection. */
export function refuseUpgrade(socket: Duplex, thrown: unknown): void {
  const error = thrown instanceof DomainError ? thrown : new DomainError('internal_error', 'Something went wrong.');
  const body = JSON.stringify(errorEnvelope(error));
  const headers = {
    ...retryHeaders(error),
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  endConnection(socket, `HTTP/1.1 ${error.definition.status} Refused\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}
