import { EventEmitter } from 'node:events';
import { type IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type WebSocket } from 'ws';
import { ownerOf } from '../../../test/support/live-session.js';
import { defaultSession } from '../../contracts/realtime/session-config.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { type Authenticator } from '../../platform/auth/authenticator.js';
import { type Principal } from '../../platform/auth/principal.js';
import { ModelList } from '../../platform/config/config.module.js';
import { type ModelSpec } from '../../platform/config/model-spec.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { type RateLimiter } from '../limits/rate-limiter.js';
import { ModelCatalog } from '../models/model-catalog.js';
import { type AdmittedCaller, type WebSocketEndpoint } from '../websockets/websocket-endpoint.js';
import { type ClientSecrets } from './client-secrets.js';
import { type RealtimeSessions } from './realtime-sessions.js';
import { RealtimeGateway } from './realtime.gateway.js';

const OWNER = ownerOf('t');
const MODEL = {
  id: 'whisper',
  kind: 'stt',
  aliases: ['whisper-1'],
  capabilities: [],
  languages: [],
} as unknown as ModelSpec;
const PREPARED = { ...defaultSession('whisper-1'), prompt: '', language: 'de' };
const BROWSER = { 'sec-websocket-protocol': 'realtime, openai-insecure-api-key.ek_1' };

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function gateway(principal: Principal = OWNER) {
  const seen: unknown[][] = [];
  const note =
    (name: string) =>
    (...given: unknown[]) =>
      void seen.push([name, ...given]);
  const state = { failure: undefined as Error | undefined };
  const ticket = { leave: note('leave') };
  const sessions = {
    demandRoom: note('demandRoom'),
    create: (given: object) => {
      if (state.failure) throw state.failure;
      seen.push(['create', given]);
      return { begin: (_: unknown, ...created: unknown[]) => seen.push(['begin', ...created]) };
    },
    findAnywhere: (...wanted: unknown[]) => {
      seen.push(['find', ...wanted]);
      if (state.failure) return Promise.reject(state.failure);
      return Promise.resolve({
        resume: (_: unknown, ...given: unknown[]) => seen.push(['resume', ...given]),
      });
    },
  };
  const tested = new RealtimeGateway(
    { authenticateUpgrade: () => Promise.resolve(principal) } as unknown as Authenticator,
    sessions as unknown as RealtimeSessions,
    { sessionOf: (token: string) => (token === 'ek_1' ? PREPARED : undefined) } as ClientSecrets,
    new ModelCatalog(new ModelList([MODEL])),
    {
      enter: (...given: unknown[]) => {
        seen.push(['enter', ...given]);
        return Promise.resolve(ticket);
      },
    } as unknown as RateLimiter,
    settingsFrom({ 'realtime.max_message_bytes': 2048 }),
  );
  const requestOf = (query: string, headers: object = {}) =>
    ({ url: `/v1/realtime${query}`, headers }) as IncomingMessage;
  /** What happens at a connection that was admitted. */
  const connect = async (query: string, headers?: object) => {
    const webSocket = Object.assign(new EventEmitter(), {
      readyState: 1,
      OPEN: 1,
      send: (json: string) => seen.push(['send', JSON.parse(json)]),
      close: note('close'),
      pause: note('pause'),
      resume: note('unpause'),
      terminate: () => undefined,
    });
    const caller = { principal, ticket } as unknown as Parameters<
      RealtimeGateway['handleConnection']
    >[2];
    await tested.handleConnection(
      webSocket as unknown as WebSocket,
      requestOf(query, headers),
      caller,
    );
    webSocket.emit('close', 1000);
    return seen.splice(0);
  };
  const admit = async (query: string): Promise<AdmittedCaller> => {
    const endpoint = { options: {} as { maxPayload?: number }, admitBy: jest.fn() };
    tested.afterInit(endpoint as unknown as WebSocketEndpoint);
    expect(endpoint.options.maxPayload).toBe(2048);
    const [[by]] = endpoint.admitBy.mock.calls as [
      [(request: IncomingMessage) => Promise<AdmittedCaller>],
    ];
    return by(requestOf(query));
  };
  return { connect, admit, seen, state, ticket };
}
/** The error that a connection ends with. */
const refused = (code: string, close: number, param: string | null = null) => [
  ['leave'],
  ['send', { type: 'error', event_id: 'event_0', error: expect.objectContaining({ code, param }) }],
  ['unpause'],
  ['close', close, code],
];

describe('the upgrade to a live session', () => {
  it('needs the scope, room, and a place among the requests of its key', async () => {
    const { admit, seen, ticket } = gateway();
    const caller = await admit('?model=whisper');
    expect(caller).toMatchObject({ principal: OWNER, ticket });
    expect(seen).toEqual([
      ['demandRoom', OWNER, true],
      ['enter', OWNER, expect.stringMatching(/^realtime-[0-9a-f-]{36}$/)],
    ]);
    caller.release?.();
    expect(seen.at(-1)).toEqual(['leave']);
    const other = gateway(ownerOf('t', { scopes: new Set(['events'] as const) }));
    await expect(other.admit('')).rejects.toThrow('lacks the scope realtime');
    expect(other.seen).toEqual([]);
  });

  it('of a session that is resumed has its place already', async () => {
    const { admit, seen } = gateway();
    const caller = await admit('?session_id=sess_1');
    caller.release?.();
    expect(caller).toMatchObject({ ticket: undefined });
    expect(seen).toEqual([['demandRoom', OWNER, false]]);
  });

  it('never echoes a key, and is not compressed', () => {
    const options = Reflect.getMetadata('websockets:gateway_options', RealtimeGateway) as {
      readonly handleProtocols: (offered: ReadonlySet<string>) => string | false;
      readonly perMessageDeflate: boolean;
    };
    expect(options.perMessageDeflate).toBe(false);
    expect(options.handleProtocols(new Set(['openai-insecure-api-key.x', 'realtime']))).toBe(
      'realtime',
    );
    expect(options.handleProtocols(new Set(['openai-insecure-api-key.x']))).toBe(false);
  });
});

describe('a connection that begins a session', () => {
  const older = { 'openai-beta': 'realtime=v1' };
  const created = 'session.created';
  it.each([
    ['', {}, { model: 'whisper-1' }, 'ga', created],
    ['?model=whisper', {}, { model: 'whisper' }, 'ga', created],
    ['?intent=transcription', {}, { model: 'whisper-1' }, 'ga', created],
    ['', older, {}, 'older', created],
    ['?intent=transcription', older, {}, 'older', 'transcription_session.created'],
    ['', { 'sec-websocket-protocol': 'realtime, openai-beta.realtime-v1' }, {}, 'older', created],
    ['', BROWSER, { language: 'de' }, 'ga', created],
    ['', { authorization: 'Bearer ek_1' }, { language: 'de' }, 'ga', created],
    ['?model=whisper', BROWSER, { model: 'whisper', language: 'de' }, 'ga', created],
  ])(
    'has what its query and its headers say: %s %j',
    async (query, headers, config, dialect, type) => {
      const { connect, ticket } = gateway();
      const [made, ...begun] = await connect(query, headers);
      expect(made).toMatchObject(['create', { config, dialect, owner: OWNER, ticket }]);
      expect(begun).toEqual([['begin', type, []]]);
    },
  );

  it.each([
    ['?model=none', 'model_not_found', 'query.model'],
    ['?intent=conversation', 'invalid_value', 'intent'],
    ['?call_id=call_1', 'unsupported_parameter', 'call_id'],
    ['?session_id=sess_1', 'missing_required_parameter', 'session_secret'],
  ])('is closed with the reason when its query is wrong: %s', async (query, code, param) => {
    expect(await gateway().connect(query)).toEqual(refused(code, 1008, param));
  });

  it('is closed when its key may not use the model', async () => {
    const limited = (models: readonly string[]) =>
      gateway(ownerOf('t', { terms: { key: 'k', models } }));
    expect(await limited(['other']).connect('')).toEqual(refused('model_not_found', 1008, 'model'));
    expect((await limited(['whisper']).connect(''))[0]![0]).toBe('create');
  });

  it('is closed by a defect', async () => {
    const { connect, state } = gateway();
    state.failure = new TypeError('defect');
    expect(await connect('')).toEqual(refused('internal_error', 1011));
  });
});

describe('a connection that resumes a session', () => {
  const query = '?session_id=sess_1&session_secret=abc';

  it('is read when the session has been found', async () => {
    const { connect } = gateway();
    const found = [['pause'], ['find', 'sess_1', 'abc', OWNER], ['unpause']];
    expect(await connect(`${query}&last_event_id=event_7`)).toEqual([
      ...found,
      ['resume', 'event_7', OWNER],
    ]);
    expect(await connect(query)).toEqual([...found, ['resume', '', OWNER]]);
  });

  it('is closed when there is none', async () => {
    const { connect, state } = gateway();
    state.failure = new DomainError('session_not_found', 'none');
    expect(await connect(query)).toEqual([
      ['pause'],
      ['find', 'sess_1', 'abc', OWNER],
      ['unpause'],
      ...refused('session_not_found', 1008),
    ]);
  });
});
