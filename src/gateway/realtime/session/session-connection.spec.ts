import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Settings } from '../../../platform/config/settings.js';
import { type ClientSocket } from '../../websockets/client-socket.js';
import { SessionConnection } from './session-connection.js';
import { type SessionOutbox } from './session-outbox.js';

const LIMITS = { quietMs: 1000, idleTimeoutMs: 60_000, resumeWindowMs: 30_000 };

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A connection, and what happens at it in order. */
function connection(limits: Partial<typeof LIMITS> = {}) {
  const seen: unknown[][] = [];
  const note =
    (name: string) =>
    (...given: unknown[]) =>
      void seen.push([name, ...given]);
  const clientNamed = (name: string) => {
    let listener!: Parameters<ClientSocket['listen']>[0];
    const socket = {
      name,
      listen: (to: typeof listener) => (listener = to),
      send: note(`${name} send`),
      close: note(`${name} close`),
      pauseFor: note(`${name} pauseFor`),
    };
    return {
      socket: socket as unknown as ClientSocket,
      text: (message: string) => listener.text(message),
      binary: (data: Buffer) => listener.binary(data),
      gone: (closed: boolean) => listener.gone(closed),
    };
  };
  const nameOf = (socket: ClientSocket) => (socket as unknown as { name: string }).name;
  const tested = new SessionConnection(
    {
      attach: (socket: ClientSocket) => seen.push(['attach', nameOf(socket)]),
      detach: (socket: ClientSocket) => seen.push(['detach', nameOf(socket)]),
    } as unknown as SessionOutbox,
    { ...LIMITS, ...limits } as Settings['realtime'],
    { received: note('received'), silent: note('silent'), left: note('left') },
  );
  const client = clientNamed('first');
  tested.attach(client.socket);
  /** What has happened since the last call. */
  const happened = () => seen.splice(0);
  expect(happened()).toEqual([['attach', 'first']]);
  return { connection: tested, client, clientNamed, happened };
}

describe('the client of a session', () => {
  it('is heard, and ends the session after a minute without a message', () => {
    const { client, happened } = connection();
    jest.advanceTimersByTime(59_999);
    client.text('a');
    client.binary(Buffer.of(1));
    expect(happened()).toEqual([
      ['received', 'a'],
      ['received', Buffer.of(1)],
    ]);
    jest.advanceTimersByTime(59_999);
    expect(happened()).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(happened()).toEqual([['silent', 'no message from the client for 60 s']]);
  });

  it('is quiet a second after its last message, and while it is away', () => {
    const { connection: tested, client } = connection();
    jest.advanceTimersByTime(999);
    expect(tested.isQuiet).toBe(false);
    jest.advanceTimersByTime(1);
    expect(tested.isQuiet).toBe(true);
    client.text('a');
    expect(tested.isQuiet).toBe(false);
    client.gone(false);
    expect(tested.isQuiet).toBe(true);
    jest.advanceTimersByTime(5000);
    tested.attach(client.socket);
    expect(tested.isQuiet).toBe(false);
    expect(tested.detachedAtMs).toBeUndefined();
  });

  it('that is lost has half a minute to come back', () => {
    const { connection: tested, client, happened } = connection();
    jest.advanceTimersByTime(100);
    const lostAtMs = performance.now();
    client.gone(false);
    expect(tested.detachedAtMs).toBe(lostAtMs);
    jest.advanceTimersByTime(29_999);
    expect(happened()).toEqual([['detach', 'first']]);
    jest.advanceTimersByTime(1);
    expect(happened()).toEqual([['left', 'not resumed']]);
    jest.advanceTimersByTime(60_000);
    expect(happened()).toEqual([]);
  });

  it.each([
    ['that closes', LIMITS, true],
    ['that is lost, where no session is resumed', { resumeWindowMs: 0 }, false],
  ])('%s ends its session', (_, limits, closed) => {
    const { connection: tested, client, happened } = connection(limits);
    client.gone(closed);
    expect(happened()).toEqual([
      ['detach', 'first'],
      ['left', 'closed by the client'],
    ]);
    expect(tested.detachedAtMs).toBeUndefined();
  });

  it('that resumes gets what it missed before anything else, and only it is heard', () => {
    const { connection: tested, client, clientNamed, happened } = connection();
    const second = clientNamed('second');
    tested.replace(second.socket, [{ id: 'e', json: '{}' }]);
    expect(happened()).toEqual([
      ['first close', 1008, 'resumed by another connection'],
      ['second send', '{}'],
      ['attach', 'second'],
    ]);
    client.text('late');
    client.gone(true);
    expect(happened()).toEqual([['detach', 'first']]);
    second.text('a');
    tested.slowDown(200);
    expect(happened()).toEqual([
      ['received', 'a'],
      ['second pauseFor', 200],
    ]);
  });

  it('is not waited for after the end', () => {
    const { connection: tested, client, happened } = connection();
    tested.close(1000, 'bye', 50);
    expect(happened()).toEqual([['first close', 1000, 'bye', 50]]);
    client.text('late');
    client.gone(true);
    tested.slowDown(200);
    jest.advanceTimersByTime(120_000);
    expect(happened()).toEqual([['detach', 'first']]);
  });
});
