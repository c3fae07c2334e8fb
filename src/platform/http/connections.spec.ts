import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { isUnconnected, listeningUrl, listenHost } from './connections.js';

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
