import { EventEmitter } from 'node:events';
import { type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Authenticator } from '../../../platform/auth/authenticator.js';
import { type Principal } from '../../../platform/auth/principal.js';
import { settingsFrom } from '../../../platform/config/settings.js';
import { type ShutdownGrace } from '../../lifecycle/shutdown-drain.js';
import { type LimitGuard } from '../../limits/limit-guard.js';
import { type InnerRequests } from '../../requests/inner-requests.js';
import { type WebSocketEndpoint } from '../../websockets/websocket-endpoint.js';
import { type ResponseFeed } from '../stored/response-feed.js';
import { ResponsesGateway } from './responses.gateway.js';

const LOOSE_BYTES = 131_072;

async function settle(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await turn();
}

class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  readonly bufferedAmount = 0;
  readonly sent: string[] = [];
  paused = 0;

  pause(): void {
    this.paused += 1;
  }

  resume(): void {
    // Nothing is read here.
  }

  send(text: string | Buffer): void {
    this.sent.push(text.toString());
  }

  close(code: number, reason: string): void {
    this.sent.push(`close ${code} ${reason}`);
    this.readyState = 3;
    setImmediate(() => this.emit('close', code));
  }
}

describe('the WebSocket of responses', () => {
  let principal: Principal;
  let isCurrent: boolean;
  let log: unknown[];
  let body: Readable | Error;
  let admit: () => Promise<{ principal: Principal }>;
  let waited: Promise<unknown> | undefined;
  let endpoint: { options: { maxPayload?: number }; admitBy: (given: typeof admit) => void };
  let gateway: ResponsesGateway;
  let open: FakeSocket[];

  beforeEach(() => {
    principal = { tenant: 't', scopes: new Set(['inference']) };
    [isCurrent, log, waited, open] = [true, [], undefined, []];
    body = Readable.from([]);
    const authenticator = {
      authenticateUpgrade: () => Promise.resolve(principal),
      isCurrent: () => isCurrent,
    };
    const limits = {
      enter: () => Promise.resolve({ leave: () => log.push('leave') }),
      place: () => {
        log.push('place');
        return () => undefined;
      },
    };
    const run = ({ path, tenant, headers }: { path: string; tenant: string; headers: object }) => {
      log.push({ path, tenant, headers });
      return body instanceof Error
        ? Promise.reject(body)
        : Promise.resolve({ status: 200, headers: {}, body });
    };
    const feed = {
      demandEvents: (ref: object, after: number) => Promise.resolve(log.push({ ...ref, after })),
      follow: () => Readable.from([Buffer.from('data: {"type":"x"}\n\n')]),
    };
    gateway = new ResponsesGateway(
      authenticator as unknown as Authenticator,
      limits as unknown as LimitGuard,
      { run } as unknown as InnerRequests,
      feed as unknown as ResponseFeed,
      { waitFor: (work: Promise<unknown>) => (waited = work) } as unknown as ShutdownGrace,
      settingsFrom({ 'realtime.max_sessions': 2, 'server.json_limit_bytes': 500_000 }),
    );
    endpoint = { options: {}, admitBy: given => void (admit = given) };
    gateway.afterInit(endpoint as unknown as WebSocketEndpoint);
  });
  afterEach(() => {
    for (const socket of open) if (socket.readyState === 1) socket.close(1000, '');
    return settle();
  });

  function connect(tenant = 't') {
    const socket = new FakeSocket();
    open.push(socket);
    const caller = { principal: { ...principal, tenant } };
    const peer = Object.assign(new EventEmitter(), { bytesRead: 0 });
    const request = { headers: { traceparent: 'trace', cookie: 'c' }, socket: peer };
    gateway.handleConnection(socket as never, request as unknown as IncomingMessage, caller);
    return Object.assign(socket, { peer });
  }
  const say = async (socket: FakeSocket, message: object) => {
    socket.emit('message', Buffer.from(JSON.stringify(message)), false);
    await settle();
  };
  const CREATE = { type: 'response.create', input: 'x' };
  const RESUME = { type: 'response.resume', response_id: 'r', starting_after: 3 };

  it('takes messages as large as bodies may be', () => {
    expect(endpoint.options.maxPayload).toBe(500_000);
  });

  it('admits who may send requests, while there is room', async () => {
    for (let failed = 0; failed < 3; failed++) expect(await admit()).toEqual({ principal });
    const [first] = [connect(), connect()];
    await expect(admit()).rejects.toMatchObject({ code: 'queue_full', retryAfterMs: 1000 });
    const late = connect();
    expect(late.sent).toEqual([expect.stringMatching(/^close 1013 there are too many/)]);
    first.close(1000, '');
    await settle();
    expect(await admit()).toEqual({ principal });
    principal = { tenant: 't', scopes: new Set(['events']) };
    await expect(admit()).rejects.toMatchObject({ code: 'missing_scope' });
  });

  it('runs a message as a request, which counts until its answer was read', async () => {
    const answer = new Readable({ read: () => undefined });
    body = answer;
    const socket = connect();
    await say(socket, CREATE);
    const headers = { 'content-type': 'application/json', traceparent: 'trace' };
    expect(log).toEqual([{ path: '/v1/responses', tenant: 't', headers }]);
    answer.push(null);
    await settle();
    expect(log.slice(1)).toEqual(['leave']);
  });

  it('counts no message that did not run', async () => {
    body = new Error('a bug');
    const socket = connect();
    await say(socket, CREATE);
    expect(log.slice(1)).toEqual(['leave']);
    expect(socket.sent.join()).toContain('internal_error');
  });

  it('resumes a background response of its tenant', async () => {
    const socket = connect();
    await say(socket, RESUME);
    expect(log).toEqual([{ tenant: 't', id: 'r', after: 3 }]);
    expect(socket.sent).toEqual(['{"type":"x"}']);
  });

  it.each([[CREATE], [RESUME]])('does nothing for a key that was withdrawn: %j', async message => {
    isCurrent = false;
    const socket = connect();
    await say(socket, message);
    expect(socket.sent.join()).toContain('invalid_api_key');
    expect(log).toEqual([]);
  });

  it('needs a place for a large message, but not for its pings', () => {
    const socket = connect();
    const come = (count: number) => socket.peer.emit('data', Buffer.alloc(count));
    for (const control of ['ping', 'pong']) {
      come(LOOSE_BYTES);
      socket.emit(control, Buffer.alloc(LOOSE_BYTES - 6));
    }
    expect(log).toEqual([]);
    come(LOOSE_BYTES);
    come(1);
    expect(log).toEqual(['place']);
  });

  it('admits nobody once it shuts down, which waits for what is answered', async () => {
    const answer = new Readable({ read: () => undefined });
    body = answer;
    const [busy, idle] = [connect(), connect('u')];
    await say(busy, CREATE);
    gateway.onModuleDestroy();
    await settle();
    await expect(admit()).rejects.toMatchObject({ code: 'shutting_down' });
    const end = expect.stringMatching(/^close 1001 the server is shutting down/);
    expect([idle.sent, busy.sent]).toEqual([[end], []]);
    answer.push(null);
    await waited;
    expect(busy.sent).toEqual([end]);
  });

  it('ends no connection twice', async () => {
    const socket = connect();
    socket.close(1000, 'left');
    await settle();
    gateway.onModuleDestroy();
    await waited;
    expect(socket.sent).toEqual(['close 1000 left']);
  });
});
