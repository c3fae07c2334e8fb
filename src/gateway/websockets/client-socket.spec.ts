import { once } from 'node:events';
import { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { ClientSocket } from './client-socket.js';

const PING_MS = 1000;
const BOUND = 400;

describe('ClientSocket', () => {
  let server: WebSocketServer;
  let peer: WebSocket;
  /** Its own end, as `ws` has it. */
  let raw: WebSocket;
  let socket: ClientSocket;
  const heard: unknown[] = [];

  beforeEach(async () => {
    heard.length = 0;
    server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    peer = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    [raw] = (await once(server, 'connection')) as [WebSocket];
    if (peer.readyState !== WebSocket.OPEN) await once(peer, 'open');
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    socket = new ClientSocket(raw, { pingIntervalMs: PING_MS }, BOUND);
    socket.listen({
      text: message => heard.push(message),
      binary: data => heard.push([...data]),
      gone: closed => heard.push({ closed }),
    });
  });
  afterEach(async () => {
    jest.useRealTimers();
    peer.terminate();
    if (raw.readyState !== WebSocket.CLOSED) {
      const closed = once(raw, 'close');
      raw.terminate();
      await closed;
    }
    await new Promise(closed => server.close(closed));
  });

  const turns = async (count = 20) => {
    for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
  };
  const until = async (holds: () => boolean) => {
    while (!holds()) await turns(1);
  };

  it('tells texts from bytes, and how its peer left', async () => {
    peer.send('text');
    peer.send(Buffer.from([1, 2]));
    await until(() => heard.length === 2);
    peer.close(1000);
    await until(() => heard.length === 3);
    expect(heard).toEqual(['text', [1, 2], { closed: true }]);
    expect(socket.open).toBe(false);
    // Nobody is there to read it.
    socket.send('{}');
  });

  it('tells a lost connection apart from one that was closed', async () => {
    peer.terminate();
    await until(() => heard.length === 1);
    expect(heard).toEqual([{ closed: false }]);
  });

  it('cuts a peer that answers no ping, and none that does or that it does not read', async () => {
    for (let pings = 1; pings <= 3; pings++) {
      const answered = once(raw, 'pong');
      jest.advanceTimersByTime(PING_MS);
      await answered;
    }
    socket.pause();
    for (let pings = 0; pings < 3; pings++) jest.advanceTimersByTime(PING_MS);
    await turns();
    expect(heard).toEqual([]);
    socket.resume();
    peer.pause();
    await turns();
    jest.advanceTimersByTime(PING_MS);
    await turns();
    jest.advanceTimersByTime(2 * PING_MS);
    await until(() => heard.length === 1);
    expect(heard).toEqual([{ closed: false }]);
  });

  it('is overfull beyond its bound, and drained at a quarter of it', async () => {
    const buffered = (bytes: number) =>
      Object.defineProperty(raw, 'bufferedAmount', { value: bytes, configurable: true });
    buffered(BOUND);
    expect(socket.overfull).toBe(false);
    buffered(BOUND + 1);
    expect(socket.overfull).toBe(true);
    let isDrained = false;
    const drained = socket.drained().then(() => (isDrained = true));
    buffered(BOUND / 4 + 1);
    socket.send('{}');
    await turns();
    expect(isDrained).toBe(false);
    buffered(BOUND / 4);
    socket.send('{}');
    await drained;
  });

  it('stops waiting to be drained when its peer is gone', async () => {
    Object.defineProperty(raw, 'bufferedAmount', { value: BOUND, configurable: true });
    const drained = socket.drained();
    peer.terminate();
    await drained;
  });

  it('reads on after the pause that was said last', () => {
    socket.pauseFor(100);
    socket.pauseFor(500);
    jest.advanceTimersByTime(499);
    expect(raw.isPaused).toBe(true);
    jest.advanceTimersByTime(1);
    expect(raw.isPaused).toBe(false);
  });

  it('sends texts, and outlives an error of its connection, which is closed then', async () => {
    const sent = once(peer, 'message');
    socket.send(Buffer.from('{}'));
    const [text, isBinary] = (await sent) as [Buffer, boolean];
    expect([String(text), isBinary]).toEqual(['{}', false]);
    expect(() => raw.emit('error', new Error('reset'))).not.toThrow();
  });

  it('closes with a reason of 123 bytes at most, also while it is paused', async () => {
    socket.pauseFor(60_000);
    const closed = once(peer, 'close');
    socket.close(1000, 'x'.repeat(200));
    const [code, reason] = (await closed) as [number, Buffer];
    expect([code, reason.length]).toEqual([1000, 123]);
    await until(() => heard.length === 1 && jest.getTimerCount() === 0);
    expect(heard).toEqual([{ closed: true }]);
  });

  it('cuts a peer that does not answer its close', async () => {
    peer.pause();
    socket.close(1000, 'bye');
    await turns();
    jest.advanceTimersByTime(1999);
    await turns();
    expect(heard).toEqual([]);
    jest.advanceTimersByTime(1);
    await until(() => heard.length === 1);
  });
});
