import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Server as SocketIoServer } from 'socket.io';
import { WebSocket } from 'ws';
import { DomainError } from '../../core/errors/domain-error.js';
import { type OriginGuard } from '../../platform/auth/host-and-origin-guard.js';
import {
  CompositeWebSocketAdapter,
  type WebSocketGatewayOptions,
} from './composite-websocket-adapter.js';
import { type WebSocketEndpoint } from './websocket-endpoint.js';

const HANDSHAKE = {
  host: 'localhost',
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  'sec-websocket-version': '13',
};

describe('WebSockets of both protocols at one server', () => {
  let server: Server;
  let adapter: CompositeWebSocketAdapter;
  let endpoint: WebSocketEndpoint;
  let port: number;
  let admission: Error | undefined;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    admission = undefined;
    server = createServer((_, response) => response.end('plain'));
    adapter = new CompositeWebSocketAdapter(server, {
      demandUpgrade: ({ origin }: { readonly origin?: string }) => {
        if (origin !== undefined) throw new DomainError('origin_not_allowed', 'Not from there.');
      },
    } as OriginGuard);
    endpoint = adapter.create(0, { protocol: 'ws', path: '/live' }) as WebSocketEndpoint;
    endpoint.admitBy(() =>
      admission ? Promise.reject(admission) : Promise.resolve({ principal: {} as never }),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    ({ port } = server.address() as AddressInfo);
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const client of endpoint.clients) client.terminate();
    await adapter.close(endpoint);
    await new Promise(closed => server.close(closed));
  });

  /** Sends an upgrade. @returns the answer so far, and whether the connection was closed */
  async function upgrade(
    target: string,
    changed: Readonly<Record<string, string | undefined>> = {},
    method = 'GET',
  ) {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    const headers = Object.entries({ ...HANDSHAKE, ...changed }).flatMap(([name, value]) =>
      value === undefined ? [] : `${name}: ${value}\r\n`,
    );
    socket.write(`${method} ${target} HTTP/1.1\r\n${headers.join('')}\r\n`);
    let text = '';
    const ended = new Promise<void>(resolve => {
      socket.on('data', data => {
        text += String(data);
        if (text.startsWith('HTTP/1.1 101')) resolve();
      });
      socket.on('close', resolve);
    });
    await ended;
    const [head = '', body = ''] = text.split('\r\n\r\n');
    const [status = '', ...lines] = head.split('\r\n');
    return { status: Number(status.split(' ')[1]), lines, body, closed: socket.readableEnded };
  }

  it.each(['/live', '/live/', '/live?model=m'])('are opened at their path: %s', async target => {
    expect(await upgrade(target)).toMatchObject({ status: 101, closed: false });
  });

  it.each([
    ['another path', '/other', {}, 'GET', 404, 'unknown_url'],
    ['another method', '/live', {}, 'POST', 405, 'method_not_allowed'],
    ['no key', '/live', { 'sec-websocket-key': undefined }, 'GET', 400, 'invalid_value'],
    ['a short key', '/live', { 'sec-websocket-key': 'AAAA==' }, 'GET', 400, 'invalid_value'],
    ['an old version', '/live', { 'sec-websocket-version': '8' }, 'GET', 400, 'invalid_value'],
    ['bad names', '/live', { 'sec-websocket-protocol': 'a,,b' }, 'GET', 400, 'invalid_value'],
    ['two hosts', '/live', { Host: 'other' }, 'GET', 400, 'invalid_value'],
    ['a foreign origin', '/live', { origin: 'http://x' }, 'GET', 403, 'origin_not_allowed'],
  ])(
    'are refused in HTTP, and nobody is asked: %s',
    async (_, target, changed, method, status, code) => {
      admission = new DomainError('queue_full', 'Full.');
      const answer = await upgrade(target, changed, method);
      expect(answer).toMatchObject({ status, closed: true });
      expect(JSON.parse(answer.body)).toMatchObject({ error: { code } });
    },
  );

  it('are refused with what a client needs to try again', async () => {
    admission = new DomainError('queue_full', 'Full – “wait”.', { retryAfterMs: 3000 });
    const { status, lines, body } = await upgrade('/live');
    expect(status).toBe(429);
    expect(lines).toEqual(
      expect.arrayContaining([
        'retry-after: 3',
        'content-type: application/json; charset=utf-8',
        `content-length: ${Buffer.byteLength(body)}`,
        'connection: close',
      ]),
    );
  });

  it('leave a request alone that merely offers another protocol', async () => {
    const response = await new Promise<string>(resolve => {
      const socket = connect(port, '127.0.0.1');
      sockets.push(socket);
      socket.write('GET /live HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: h2c\r\n\r\n');
      socket.once('data', data => resolve(String(data)));
    });
    expect(response).toContain('200 OK');
  });

  it('survive a peer that resets its connection during the upgrade', async () => {
    const admitted = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    endpoint.admitBy(async () => {
      reached.resolve();
      await admitted.promise;
      return { principal: {} as never };
    });
    const seen = once(server, 'upgrade') as Promise<[unknown, Socket]>;
    const done = upgrade('/live');
    const [, socket] = await seen;
    await reached.promise;
    socket.emit('error', new Error('ECONNRESET'));
    expect(socket.destroyed).toBe(true);
    admitted.resolve();
    expect(await done).toMatchObject({ closed: true });
  });

  describe('of Socket.IO', () => {
    const PATH = '/socket.io/';
    const options = { protocol: 'socket.io', path: PATH } as WebSocketGatewayOptions;

    /** A client after its handshake. */
    async function client(): Promise<{ socket: WebSocket; received: string[] }> {
      const socket = new WebSocket(`ws://127.0.0.1:${port}${PATH}?EIO=4&transport=websocket`);
      const received: string[] = [];
      const connected = new Promise<void>(resolve =>
        socket.on('message', data => {
          const text = (data as Buffer).toString();
          received.push(text);
          if (text.startsWith('40')) resolve();
        }),
      );
      await once(socket, 'open');
      socket.send('40');
      await connected;
      return { socket, received };
    }

    it('have a server of their own, and namespaces of it', async () => {
      const io = adapter.create(0, options) as SocketIoServer;
      const root = io.of('/');
      expect(
        adapter.create(0, { ...options, namespace: '/', server: io } as WebSocketGatewayOptions),
      ).toBe(root);
      adapter.bindMessageHandlers();
      const { socket } = await client();
      const closed = once(socket, 'close');
      await adapter.close(io);
      await closed;
    });

    it('get what was sent to them before the end', async () => {
      const io = adapter.create(0, options) as SocketIoServer;
      const { socket, received } = await client();
      io.emit('last', 'word');
      const closed = once(socket, 'close');
      await adapter.close(io);
      await closed;
      expect(received).toContain('42["last","word"]');
    });
  });
});
