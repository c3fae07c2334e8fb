import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { AbstractWsAdapter } from '@nestjs/websockets';
import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { Server as SocketIoServer, type ServerOptions as SocketIoOptions } from 'socket.io';
import { type ServerOptions as WebSocketOptions } from 'ws';
import { errorDefinition } from '../../contracts/errors/error-registry.js';
import { errorEnvelope, retryHeaders } from '../../contracts/openai/error-envelope.js';
import { DomainError, shownError } from '../../core/errors/domain-error.js';
import { type OriginGuard } from '../../platform/auth/host-and-origin-guard.js';
import { endConnection } from '../../platform/http/connections.js';
import { demandOneHost } from '../http/request-headers.js';
import { WebSocketEndpoint } from './websocket-endpoint.js';

/** 16 bytes in base64 (RFC 6455, 4.1). */
const KEY = /^[+/0-9A-Za-z]{22}==$/;

const VERSION = '13';

const TOKEN_LIST = /^\s*[!#$%&'*+.^_`|~0-9A-Za-z-]+(\s*,\s*[!#$%&'*+.^_`|~0-9A-Za-z-]+)*\s*$/;

/**
 * Checks what an upgrade must have before anything is counted or reserved for it.
 * @throws DomainError `invalid_value` naming the header, `method_not_allowed`
 */
function demandHandshake(message: IncomingMessage): void {
  const { method, headers } = message;
  demandOneHost(message);
  if (method !== 'GET')
    throw new DomainError('method_not_allowed', `A WebSocket is opened by GET, not ${method}.`);
  demand(headers['sec-websocket-key'], KEY, 'Sec-WebSocket-Key', '16 bytes in base64');
  demand(headers['sec-websocket-version'], /^13$/, 'Sec-WebSocket-Version', VERSION);
  demand(
    headers['sec-websocket-protocol'] ?? 'none',
    TOKEN_LIST,
    'Sec-WebSocket-Protocol',
    'comma-separated names',
  );
}

function demand(value: string | undefined, pattern: RegExp, param: string, allowed: string): void {
  if (value !== undefined && pattern.test(value)) return;
  throw new DomainError(
    'invalid_value',
    `The header \`${param}\` of a WebSocket must be ${allowed}.`,
    { param },
  );
}

/** Answers an upgrade with an error envelope and closes the connection. */
function refuseUpgrade(socket: Duplex, thrown: unknown): void {
  const error = shownError(thrown);
  const body = writeJson(errorEnvelope(error));
  const headers = {
    ...retryHeaders(error),
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  endConnection(
    socket,
    `HTTP/1.1 ${errorDefinition(error).status} Refused\r\n${lines.join('\r\n')}\r\n\r\n${body}`,
  );
}

interface PlainOptions extends WebSocketOptions {
  readonly protocol: 'ws';
  readonly path: string;
}

interface SocketIoEndpointOptions extends Partial<SocketIoOptions> {
  readonly protocol: 'socket.io';
  readonly path: string;
  readonly namespace?: string;
  /** Of the namespace: Nest creates the server first. */
  readonly server?: SocketIoServer;
}

/**
 * Options of `@WebSocketGateway`: `ws` gives the gateway a `WebSocketEndpoint`,
 * `socket.io` a server or its namespace.
 */
export type WebSocketGatewayOptions = PlainOptions | SocketIoEndpointOptions;

type AnyServer = WebSocketEndpoint | SocketIoServer;

/** From here on the socket belongs to the handler. */
type UpgradeHandler = (
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
) => Promise<void> | void;

/**
 * All WebSockets of both protocols, behind one listener of the HTTP server's `upgrade`
 * event. An upgrade is checked (handshake, origin), then goes to the gateway of its
 * path; other paths get 404. A request that merely offers HTTP/2 (`Upgrade: h2c`) stays
 * an ordinary one. Gateways read their clients themselves, because order and back
 * pressure are theirs.
 */
export class CompositeWebSocketAdapter extends AbstractWsAdapter {
  readonly #handlers = new Map<string, UpgradeHandler>();

  constructor(
    server: Server & { shouldUpgradeCallback?: (request: IncomingMessage) => boolean },
    private readonly origins: OriginGuard,
  ) {
    super();
    server.shouldUpgradeCallback = ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket';
    server.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head));
  }

  create(_port: number, options: WebSocketGatewayOptions): AnyServer {
    if (options.protocol === 'ws') return this.#plain(options);
    const { namespace, server } = options;
    if (namespace === undefined || !server) return this.#socketIo(options);
    // A namespace has the events of a server, and is all that Nest hands to the gateway.
    return server.of(namespace) as unknown as SocketIoServer;
  }

  bindMessageHandlers(): void {
    // No gateway declares any.
  }

  /**
   * Live sessions have ended by now; their gateway refuses upgrades until the HTTP
   * server is closed.
   */
  override async close(server: AnyServer): Promise<void> {
    if (server instanceof SocketIoServer) await closeAfterFlush(server);
  }

  #plain(options: PlainOptions): WebSocketEndpoint {
    const { path } = options;
    // Without the path, which `ws` would compare again, and with its trailing slash.
    const endpoint = new WebSocketEndpoint({
      ...options,
      path: undefined,
      noServer: true,
    });
    for (const spelling of [path, `${path}/`])
      this.#handlers.set(spelling, (request, socket, head) =>
        endpoint.upgrade(request, socket, head),
      );
    return endpoint;
  }

  #socketIo(options: SocketIoEndpointOptions): SocketIoServer {
    // Listens to nothing: Socket.IO takes upgrades from an HTTP server only, and gets
    // those that have been checked.
    const inner = createServer();
    this.#handlers.set(
      options.path,
      (request, socket, head) => void inner.emit('upgrade', request, socket, head),
    );
    return new SocketIoServer(inner, options);
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // A peer that resets the connection before a listener is attached must not
    // end the process.
    socket.on('error', () => socket.destroy());
    try {
      const handler = this.#handlerOf(request);
      demandHandshake(request);
      this.origins.demandUpgrade(request.headers);
      await handler(request, socket, head);
    } catch (error) {
      refuseUpgrade(socket, error);
    }
  }

  #handlerOf({ url = '' }: IncomingMessage): UpgradeHandler {
    const path = url.split('?', 1)[0] ?? '';
    const handler = this.#handlers.get(path);
    if (handler) return handler;
    throw new DomainError('unknown_url', `No WebSocket is served at ${path.slice(0, 200)}.`);
  }
}

/** For clients to take what was sent to them before the end. */
const FLUSH_MS = 1000;

/** `close()` alone discards what connections still have to send. */
async function closeAfterFlush(server: SocketIoServer): Promise<void> {
  const connections = [...server._nsps.values()].flatMap(({ sockets }) =>
    [...sockets.values()].map(({ conn }) => conn),
  );
  const closed = connections.map(connection => once(connection, 'close'));
  for (const connection of connections) connection.close();
  await Promise.race([Promise.all(closed), sleep(FLUSH_MS, undefined, { ref: false })]);
  await server.close();
}
