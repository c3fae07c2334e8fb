import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  callableUrl,
  endConnection,
  isUnconnected,
  listeningUrl,
  listenHost,
  OpenConnections,
} from './connections.js';

describe('listeningUrl', () => {
  it('says the address that was asked for, also that of all', async () => {
    for (const [host, shown] of [
      ['::', '[::]'],
      ['0.0.0.0', '0.0.0.0'],
    ] as const) {
      const server = createServer().listen(0, host);
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      expect(listeningUrl(server)).toBe(`http://${shown}:${port}`);
      server.close();
    }
  });
});

describe('listenHost', () => {
  it('is one address for localhost, in any case, and any other host as it is', () => {
    expect(['localhost', 'LocalHost'].map(listenHost)).toEqual(['127.0.0.1', '127.0.0.1']);
    const others = ['127.0.0.1', '::1', '0.0.0.0', '::', 'localhost.example', 'gateway.lan'];
    expect(others.map(listenHost)).toEqual(others);
    expect(listenHost('[::1]')).toBe('::1');
  });
});

describe('callableUrl', () => {
  it.each([
    ['localhost', 'http://127.0.0.1:8'],
    ['0.0.0.0', 'http://127.0.0.1:8'],
    ['::', 'http://127.0.0.1:8'],
    ['[::1]', 'http://[::1]:8'],
    ['gateway.lan', 'http://gateway.lan:8'],
  ])('of %s is %s', (host, url) => expect(callableUrl(host, 8)).toBe(url));
});

describe('the end of a connection', () => {
  /** Both sides of one; what arrives at the peer is kept. */
  async function pair() {
    const server = createTcpServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const accepted = once(server, 'connection') as Promise<[Socket]>;
    const { port } = server.address() as AddressInfo;
    const peer = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const [socket] = await accepted;
    server.close();
    return { peer, socket };
  }
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }));
  afterEach(() => void jest.useRealTimers());

  it('comes with its last bytes when the peer closes its side, whatever it still sends', async () => {
    const { peer, socket } = await pair();
    endConnection(socket, 'last');
    const closed = once(socket, 'close');
    peer.write('still sent');
    expect(await text(peer)).toBe('last');
    peer.end();
    await closed;
    expect(jest.getTimerCount()).toBe(0);
  });

  it('comes after 1 s where the peer never closes its side', async () => {
    const { peer, socket } = await pair();
    endConnection(socket, 'last');
    expect(await text(peer)).toBe('last');
    jest.advanceTimersByTime(999);
    expect(socket.destroyed).toBe(false);
    jest.advanceTimersByTime(1);
    expect(socket.destroyed).toBe(true);
    peer.destroy();
  });
});

describe('the connections of a server', () => {
  it('are counted until they close, and all closed at once', async () => {
    const server = createServer();
    const open = new OpenConnections(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const join = async () => {
      const accepted = once(server, 'connection') as Promise<[Socket]>;
      const { port } = server.address() as AddressInfo;
      const peer = connect(port, '127.0.0.1').on('error', () => undefined);
      return { peer, socket: (await accepted)[0] };
    };
    const [first, second] = [await join(), await join()];
    expect(open.size).toBe(2);
    first.peer.destroy();
    await once(first.socket, 'close');
    expect(open.size).toBe(1);
    const closed = once(second.peer, 'close');
    open.destroyAll();
    await closed;
    server.close();
  });
});

describe('an error of a connection', () => {
  it.each([
    [{ code: 'ECONNREFUSED' }, true],
    [{ code: 'EMFILE' }, true],
    [{ code: 'ETIMEDOUT', syscall: 'connect' }, true],
    [{ code: 'ETIMEDOUT', syscall: 'read' }, false],
    [{ code: 'ECONNRESET' }, false],
    [{}, false],
  ])('%j came before anything was sent: %s', (fields, expected) => {
    expect(isUnconnected(Object.assign(new Error('x'), fields))).toBe(expected);
  });
});
