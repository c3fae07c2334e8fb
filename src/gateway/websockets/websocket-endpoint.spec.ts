import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { type Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { DomainError } from '../../core/errors/domain-error.js';
import { type AdmittedCaller, WebSocketEndpoint } from './websocket-endpoint.js';

describe('WebSocketEndpoint', () => {
  let server: Server;
  let endpoint: WebSocketEndpoint;
  let peer: WebSocket;
  let released: number;
  const caller: AdmittedCaller = { principal: {} as never, release: () => void released++ };

  beforeEach(async () => {
    released = 0;
    endpoint = new WebSocketEndpoint({ noServer: true });
    server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(() => {
    peer.on('error', () => undefined).terminate();
    server.close();
  });

  /** Opens a connection. @returns its upgrade, as the server sees it */
  async function upgrade(): Promise<[IncomingMessage, Duplex, Buffer]> {
    peer = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    peer.on('error', () => undefined);
    return (await once(server, 'upgrade')) as [IncomingMessage, Duplex, Buffer];
  }

  it('hands a connection on with its caller, whose place is its own from then on', async () => {
    endpoint.admitBy(() => Promise.resolve(caller));
    const given = once(endpoint, 'connection');
    await endpoint.upgrade(...(await upgrade()));
    const [socket, request, who] = (await given) as [WebSocket, IncomingMessage, AdmittedCaller];
    expect([request.url, who]).toEqual(['/', caller]);
    const closed = once(socket, 'close');
    peer.terminate();
    await closed;
    expect(released).toBe(0);
  });

  it('gives the place back of a peer that left while it was admitted', async () => {
    const [request, socket, head] = await upgrade();
    endpoint.on('connection', () => expect('a connection').toBe('none'));
    endpoint.admitBy(async () => {
      const closed = once(socket, 'close');
      peer.terminate();
      socket.destroy();
      await closed;
      return caller;
    });
    await endpoint.upgrade(request, socket, head);
    expect(released).toBe(1);
  });

  it('gives the place back of what is no WebSocket after all', async () => {
    const [request, socket, head] = await upgrade();
    endpoint.admitBy(() => Promise.resolve(caller));
    request.headers['sec-websocket-version'] = '1';
    const closed = once(socket, 'close');
    await endpoint.upgrade(request, socket, head);
    await closed;
    expect(released).toBe(1);
  });

  it('leaves the connection of a refused peer to who asked', async () => {
    endpoint.admitBy(() => Promise.reject(new DomainError('queue_full', 'Full.')));
    const [request, socket, head] = await upgrade();
    await expect(endpoint.upgrade(request, socket, head)).rejects.toThrow('Full.');
    expect(socket.destroyed).toBe(false);
    socket.destroy();
  });
});
