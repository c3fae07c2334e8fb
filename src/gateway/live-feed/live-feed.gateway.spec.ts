import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { NEVER, Subject } from 'rxjs';
import { DomainError } from '../../core/errors/domain-error.js';
import { LiveFeedGateway, messageAllowance } from './live-feed.gateway.js';
import { type LiveListener } from './live-listener.js';

describe('MessageAllowance', () => {
  it('lets a burst of 3 through, then 2 per second, and never saves up more than the burst', () => {
    const refusals = messageAllowance({ limit: 3, periodMs: 1500 });
    const taken = (...atMs: number[]) => atMs.map(at => refusals(at) === 0);
    expect(taken(0, 0, 0, 0)).toEqual([true, true, true, false]);
    expect(taken(499, 500, 500)).toEqual([false, true, false]);
    expect(taken(60_000, 60_000, 60_000, 60_000)).toEqual([true, true, true, false]);
  });

  it('counts refusals until one is taken', () => {
    const refusals = messageAllowance({ limit: 1, periodMs: 1000 });
    for (let i = 0; i < 4; i++) refusals(0);
    expect(refusals(0)).toBe(4);
    expect(refusals(2000)).toBe(0);
  });
});

describe('a connection to the live feed', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is ended 6 s after it was opened, unless a key was accepted', () => {
    const gateway = new LiveFeedGateway(
      ...([
        { changed$: NEVER },
        {},
        {},
        { connect: () => undefined },
      ] as unknown as ConstructorParameters<typeof LiveFeedGateway>),
    );
    let opened: (socket: object) => void = () => undefined;
    const engine = { on: (_: string, listener: typeof opened) => void (opened = listener) };
    const use = () => undefined;
    Object.assign(gateway, { namespace: { server: { use, engine }, use } });
    gateway.onApplicationBootstrap();
    const ended: string[] = [];
    const [admitted, silent] = ['admitted', 'silent'].map(name => ({
      transport: { socket: { terminate: () => ended.push(name) } },
    }));
    for (const socket of [admitted, silent]) opened(socket!);
    gateway.handleConnection({ conn: admitted, data: {}, on: () => undefined } as never);
    jest.advanceTimersByTime(5999);
    expect(ended).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(ended).toEqual(['silent']);
  });
});

const MOST_CLIENTS = 1000;
const MOST_ROOMS = 50;
const BURST = 60;

/** A client, with the answers that it received. */
class Client extends EventEmitter {
  readonly conn = Object.assign(new EventEmitter(), {
    readyState: 'open',
    writeBuffer: [1, 2],
    transport: { socket: { bufferedAmount: 7 } },
  });
  readonly data = { principal: { tenant: 't', scopes: new Set(['events']) } };
  readonly handshake = {};
  readonly answers: Record<string, unknown>[] = [];
  disconnected = false;

  /** @param all the connection as well, not the namespace alone */
  disconnect(all = false): void {
    this.disconnected = all;
  }

  async say(verb: string, room: unknown): Promise<Record<string, unknown> | undefined> {
    const before = this.answers.length;
    this.emit(verb, room, (answer: Record<string, unknown>) => this.answers.push(answer));
    await turn();
    return this.answers.length > before ? this.answers.at(-1) : undefined;
  }
}

describe('a client of the live feed', () => {
  let log: string[];
  let scopes: string[];
  let isCurrent: boolean;
  let isFirst: boolean;
  let state: object;
  let problem: Error | undefined;
  let changes: Subject<void>;
  let sockets: Map<string, Client>;
  type Guard = (socket: object, next: (error?: Error & { data?: unknown }) => void) => void;
  let guards: { root: Guard; events: Guard };
  let client: Client;

  beforeEach(() => {
    [log, scopes, isCurrent, isFirst, state] = [[], ['events'], true, false, {}];
    [problem, changes, sockets] = [undefined, new Subject(), new Map()];
    guards = {} as typeof guards;
    const feed = {
      join: (one: LiveListener, room: never) => {
        if (problem) throw problem;
        one.rooms.add(room);
        log.push(`join ${String(room)}`);
        return isFirst;
      },
      leave: (one: LiveListener, room: never) => {
        one.rooms.delete(room);
        log.push(`leave ${String(room)}`);
      },
      leaveAll: () => log.push('leaveAll'),
      snapshots: () => [{ state: {} }, { state }],
    };
    const authenticator = {
      isCurrent: () => isCurrent,
      authenticateHandshake: () =>
        problem
          ? Promise.reject(problem)
          : Promise.resolve({ tenant: 't', scopes: new Set(scopes) }),
    };
    const gateway = new LiveFeedGateway(
      ...([
        { changed$: changes },
        authenticator,
        feed,
        { connect: () => log.push('connect'), ask: (room: string) => log.push(`ask ${room}`) },
        {
          expect: (room: string, tenant: string) =>
            Promise.resolve(log.push(`expect ${room} ${tenant}`)),
        },
        { nowMs: () => 0 },
      ] as unknown as ConstructorParameters<typeof LiveFeedGateway>),
    );
    const server = {
      use: (guard: Guard) => void (guards.root = guard),
      engine: { on: () => undefined },
    };
    const use = (guard: Guard) => void (guards.events = guard);
    Object.assign(gateway, { namespace: { server, use, sockets } });
    gateway.onApplicationBootstrap();
    client = new Client();
    expect(log.splice(0)).toEqual(['connect']);
    gateway.handleConnection(client as never);
  });

  const admitted = (guard: Guard, socket: object = client) =>
    new Promise<(Error & { data?: unknown }) | undefined>(resolve => {
      guard(socket, resolve);
    });

  it.each([['events'], ['admin']])('is admitted with the scope %s', async scope => {
    scopes = [scope];
    const socket = new Client();
    for (let at = 1; at < MOST_CLIENTS; at++) await admitted(guards.events, new Client());
    expect(await admitted(guards.events, socket)).toBeUndefined();
    expect(socket.data.principal.scopes).toEqual(new Set([scope]));
  });

  it.each<[string, (gone: Client) => unknown]>([
    ['that leaves', gone => gone.emit('disconnect')],
    ['whose connection ends before', gone => gone.conn.emit('close')],
  ])('is admitted in the place of one %s', async (_, leave) => {
    const gone = new Client();
    await admitted(guards.events, gone);
    for (let at = 1; at < MOST_CLIENTS; at++) await admitted(guards.events, new Client());
    leave(gone);
    expect(await admitted(guards.events, new Client())).toBeUndefined();
    expect(await admitted(guards.events, new Client())).toBeDefined();
  });

  it.each<[string, () => unknown, RegExp, string | undefined]>([
    ['it has another scope', () => (scopes = ['inference']), /lacks the scope/, 'missing_scope'],
    ['it is gone', () => (client.conn.readyState = 'closed'), /limit of 1000/, 'live_feed_limit'],
    [
      'there are too many',
      async () => {
        for (let at = 0; at < MOST_CLIENTS; at++) await admitted(guards.events, new Client());
      },
      /limit of 1000 clients/,
      'live_feed_limit',
    ],
    ['of a bug', () => (problem = new Error('secret')), /failed on our side/, undefined],
  ])('is refused when %s', async (_, act, message, code) => {
    await act();
    const error = await admitted(guards.events);
    expect(error?.message).toMatch(message);
    expect(error?.data).toEqual(code && { error: expect.objectContaining({ code }) });
  });

  it('is refused outside of the namespace', async () => {
    expect((await admitted(guards.root))?.message).toContain('Connect to the namespace');
  });

  it('joins rooms, whose batches are read first, and leaves them', async () => {
    const joined = { ok: true, room: 'queue', found: false };
    expect(await client.say('join', 'queue')).toMatchObject(joined);
    state = { m: {} };
    isFirst = true;
    expect(await client.say('join', 'batch:b')).toMatchObject({ room: 'batch:b', found: true });
    expect(await client.say('sync', 'batch:b')).toMatchObject({ ok: true, found: true });
    expect(await client.say('leave', 'batch:b')).toEqual({
      ok: true,
      room: 'batch:b',
      found: false,
      snapshots: [],
    });
    expect(log).toEqual([
      'expect queue t',
      'join queue',
      'expect batch:b t',
      'join batch:b',
      'ask batch:b',
      'leave batch:b',
    ]);
    client.emit('disconnect');
    expect(log.at(-1)).toBe('leaveAll');
  });

  it('receives no answer where it wants none, or has left', async () => {
    client.emit('join', 'queue');
    await turn();
    expect(log).toContain('join queue');
    client.disconnected = true;
    expect(await client.say('join', 'workers')).toBeUndefined();
    expect(log).not.toContain('join workers');
  });

  it.each([['rooms'], ['request:'], [`request:${'x'.repeat(129)}`], [7], [undefined]])(
    'is refused the room %j',
    async room => {
      expect(await client.say('join', room)).toMatchObject({
        ok: false,
        error: { code: 'invalid_value' },
      });
      expect(log).toEqual([]);
    },
  );

  it('asks again only for a room that it has joined', async () => {
    const refused = { ok: false, error: { code: 'invalid_value' } };
    expect(await client.say('sync', 'queue')).toMatchObject(refused);
  });

  it('may be in so many rooms at once', async () => {
    for (let at = 0; at < MOST_ROOMS; at++)
      expect(await client.say('join', `request:${at}`)).toMatchObject({ ok: true });
    expect(await client.say('join', 'request:0')).toMatchObject({ ok: true });
    expect(await client.say('join', 'request:50')).toMatchObject({
      ok: false,
      error: { code: 'live_feed_limit' },
    });
  });

  it('is refused what comes too fast, and ends when it does not listen', async () => {
    for (let at = 0; at < BURST; at++)
      expect(await client.say('leave', 'queue')).toMatchObject({ ok: true });
    log = [];
    expect(await client.say('join', 'queue')).toMatchObject({
      error: { code: 'live_feed_limit', message: expect.stringContaining('10 messages') },
    });
    expect(log).toEqual([]);
    for (let refused = 1; refused < 100; refused++) await client.say('join', 'queue');
    expect(client.disconnected).toBe(false);
    await client.say('join', 'queue');
    expect(client.disconnected).toBe(true);
  });

  it.each([
    [new DomainError('queue_full', 'Full.'), 'queue_full'],
    [new Error('secret'), 'internal_error'],
  ])('is told what failed, but no secret: %s', async (thrown, code) => {
    problem = thrown;
    const answer = await client.say('join', 'queue');
    expect(answer).toMatchObject({ ok: false, error: { code } });
    expect(JSON.stringify(answer)).not.toContain('secret');
  });

  it('is disconnected when its key is withdrawn', () => {
    sockets.set('c', client);
    changes.next();
    expect(client.disconnected).toBe(false);
    isCurrent = false;
    changes.next();
    expect(client.disconnected).toBe(true);
  });
});
