import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { until } from '../../../../test/support/waiting.js';
import { DomainError } from '../../../core/errors/domain-error.js';
import { type ClientSocket } from '../../websockets/client-socket.js';
import { ResponseConnection } from './response-connection.js';

const MESSAGE = '{"type":"response.create","input":"x"}';

it('reads no more than 128 KiB ahead, in however many messages, until what has come is answered', async () => {
  let listener: Parameters<ClientSocket['listen']>[0] | undefined;
  let isPaused = false;
  const sent: (string | Buffer)[] = [];
  const socket: Partial<ClientSocket> = {
    listen: given => void (listener = given),
    pause: () => void (isPaused = true),
    resume: () => void (isPaused = false),
    send: text => void sent.push(text),
  };
  const answers: (() => void)[] = [];
  const host = {
    create: () =>
      new Promise<{ status: number; headers: object; body: Readable }>(resolve => {
        const body = Readable.from(['{"error":{}}']);
        answers.push(() => resolve({ status: 400, headers: {}, body }));
      }),
  };
  const given = [socket as ClientSocket, host as never, 60_000] as const;
  const connection = new ResponseConnection(...given);
  const come = (bytes: number) => {
    connection.received(bytes);
    listener?.text(MESSAGE);
  };
  come(100_000);
  await until(() => answers.length === 1);
  for (let small = 0; small < 2; small += 1) come(60_000);
  expect(isPaused).toBe(false);
  come(60_000);
  expect(isPaused).toBe(true);
  for (let ended = 1; ended <= 4; ended += 1) {
    await until(() => answers.length === ended);
    expect(isPaused).toBe(true);
    answers.at(-1)!();
  }
  await until(() => !isPaused);
  expect(sent).toHaveLength(4);
  listener?.gone(true);
});

const IDLE_MS = 60_000;
const MOST_WAITING = 16;
const LOOSE_BYTES = 131_072;
const MOST_REMEMBERED = 4 << 20;
/** `until` waits by a timer. */
async function soon(holds: () => boolean): Promise<void> {
  for (let turns = 0; turns < 1000 && !holds(); turns++) await turn();
  expect(holds()).toBe(true);
}
type Asked = Readonly<Record<string, unknown>>;

describe('a connection for responses', () => {
  let asked: Asked[];
  let sent: string[];
  let log: string[];
  let answer: (body: Asked) => { status: number; headers: Record<string, string>; body: Readable };
  let resume: () => Promise<AsyncIterable<Buffer>>;
  let listener: Parameters<ClientSocket['listen']>[0];
  let hasPlace: boolean;
  /** Ends what was given a place, or room to be remembered. */
  let endings: (() => void)[];
  let overfull: boolean;
  let connection: ResponseConnection;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    [asked, sent, log, endings, hasPlace, overfull] = [[], [], [], [], true, false];
    const socket: Partial<ClientSocket> = {
      listen: given => void (listener = given),
      pause: () => void log.push('pause'),
      resume: () => void log.push('resume'),
      pauseFor: ms => void log.push(`pause ${ms}`),
      send: text => void sent.push(String(text)),
      close: (code, reason) => void log.push(`close ${code} ${reason}`),
      drained: () => Promise.resolve(void log.push('drained')),
    };
    Object.defineProperty(socket, 'overfull', { get: () => overfull });
    const given = (what: string) => (end: () => void) => {
      endings.push(end);
      log.push(what);
      return hasPlace ? () => void log.push(`leave ${what}`) : undefined;
    };
    const host = {
      create: (body: Buffer) => {
        asked.push(JSON.parse(body.toString()) as Asked);
        return Promise.resolve(answer(asked.at(-1)!));
      },
      resume: (id: string, after: number) => {
        log.push(`resume ${id} ${after}`);
        return resume();
      },
      place: given('place'),
      remember: (_: number, end: () => void) => given('remember')(end),
    };
    answer = () => completed();
    connection = new ResponseConnection(socket as ClientSocket, host, IDLE_MS);
  });
  afterEach(() => {
    listener.gone(true);
    jest.useRealTimers();
  });

  /** Events in the form of HTTP, and the end of the stream. */
  const stream = (...events: Asked[]) => ({
    status: 200,
    headers: {},
    body: Readable.from(
      [...events.map(event => `event: ${event.type as string}\ndata: ${JSON.stringify(event)}\n\n`)]
        .concat('data: [DONE]\n\n')
        .map(text => Buffer.from(text)),
    ),
  });
  const completed = (store = false, id = `resp_${asked.length}`) =>
    stream({ type: 'response.completed', response: { id, store, output: [{ id: `out_${id}` }] } });
  const say = async (message: object | string): Promise<void> => {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    listener.text(text);
    await connection.leave(1000, 'waits only');
    log = log.filter(line => !line.endsWith('waits only'));
  };
  const create = (fields: object = {}) => say({ type: 'response.create', input: 'hi', ...fields });
  const errors = () =>
    sent.map(text => JSON.parse(text) as { status: number; error: { code: string } });

  it('answers a message as HTTP answers its body, event by event', async () => {
    const events = [
      { type: 'response.created', response: {} },
      { type: 'response.output_text.delta', delta: 'a' },
      { type: 'response.completed', response: { id: 'r', store: true, output: [] } },
    ];
    answer = () => stream(...events);
    await create({ model: 'm' });
    expect(asked).toEqual([{ model: 'm', input: 'hi', stream: true }]);
    expect(sent.map(text => JSON.parse(text) as unknown)).toEqual(events);
    expect(log).not.toContain('drained');
  });

  it('waits for a client that reads slowly, and reads bytes as text', async () => {
    overfull = true;
    listener.binary(Buffer.from(MESSAGE));
    await soon(() => log.includes('drained'));
    expect(asked).toHaveLength(1);
  });

  it('answers one after another, and refuses what waits beyond 16', async () => {
    for (let at = 0; at <= MOST_WAITING; at++) listener.text(MESSAGE);
    expect(errors()).toMatchObject([{ type: 'error', status: 429, error: { code: 'queue_full' } }]);
    await soon(() => asked.length === MOST_WAITING && log.includes('resume'));
    await create();
    expect(asked).toHaveLength(MOST_WAITING + 1);
  });

  it.each([
    ['no json', 400, 'invalid_json'],
    ['[1]', 400, 'invalid_json'],
    [{ type: 'other' }, 400, 'invalid_value'],
    [{ type: 'response.resume' }, 400, 'missing_required_parameter'],
    [{ type: 'response.resume', response_id: 'r', starting_after: -2 }, 400, 'invalid_value'],
  ])('refuses %j with %p %s', async (message, status, code) => {
    await say(message);
    expect(errors()).toMatchObject([{ type: 'error', status, error: { code } }]);
    expect([asked, log.filter(line => line.startsWith('resume '))]).toEqual([[], []]);
  });

  it('reads a type that is written with escapes', async () => {
    await say('{"type":"response.cre\\u0061te","input":"x"}');
    expect(asked).toHaveLength(1);
  });

  it.each([
    [{}, -1],
    [{ starting_after: 7 }, 7],
  ])('resumes a background response: %j', async (fields, after) => {
    const event = { type: 'response.created' };
    resume = () => Promise.resolve(stream(event).body as AsyncIterable<Buffer>);
    await say({ type: 'response.resume', response_id: 'r', ...fields });
    expect(log).toContain(`resume r ${after}`);
    expect(sent).toEqual([JSON.stringify(event)]);
  });

  it('says what a response is refused with', async () => {
    answer = () => ({ status: 404, headers: {}, body: Readable.from(['{"error":{"code":"x"}}']) });
    await create();
    expect(errors()).toEqual([{ type: 'error', status: 404, error: { code: 'x' } }]);
    resume = () => Promise.reject(new DomainError('response_not_found', 'None.'));
    await say({ type: 'response.resume', response_id: 'r' });
    resume = () => Promise.reject(new Error('secret'));
    await say({ type: 'response.resume', response_id: 'r' });
    expect(errors().slice(1)).toMatchObject([
      { status: 404, error: { code: 'response_not_found' } },
      { status: 500, error: { code: 'internal_error' } },
    ]);
    expect(sent.join()).not.toContain('secret');
  });

  describe('remembers what is stored nowhere', () => {
    const next = () => create({ previous_response_id: 'resp_1', input: [{ id: 'in_2' }] });
    const continued = [{ role: 'user', content: 'hi' }, { id: 'out_resp_1' }, { id: 'in_2' }];

    it('and continues it, again and again', async () => {
      await create();
      answer = () =>
        stream({
          type: 'response.completed',
          response: { id: 'resp_2', store: false, output: [{ id: 'out_2' }] },
        });
      await next();
      expect(asked[1]).toMatchObject({ input: continued, previous_response_id: null });
      expect(JSON.parse(sent[1]!)).toMatchObject({ response: { previous_response_id: 'resp_1' } });
      await create({ previous_response_id: 'resp_2', input: [] });
      expect(asked[2]).toMatchObject({ input: [...continued, { id: 'out_2' }] });
    });

    it.each<[string, object, () => unknown]>([
      ['it is stored', {}, () => (answer = () => completed(true))],
      ['it failed', {}, () => (answer = () => stream({ type: 'response.failed', response: {} }))],
      ['it continues another', { previous_response_id: 'resp_0' }, () => undefined],
      ['there is no room', {}, () => (hasPlace = false)],
      ['it is too large', { input: 'x'.repeat(MOST_REMEMBERED) }, () => undefined],
    ])('but not when %s', async (_, fields, act) => {
      act();
      await create(fields);
      answer = () => completed();
      await next();
      expect(asked[1]).toMatchObject({ previous_response_id: 'resp_1', input: [{ id: 'in_2' }] });
    });

    it('until another tenant needs the room, or another response was asked for', async () => {
      await create();
      endings.at(-1)!();
      await next();
      expect(asked[1]).toMatchObject({ previous_response_id: 'resp_1' });
      answer = () => completed(false, 'resp_1');
      await create();
      answer = () => completed(true);
      log = [];
      await create();
      expect(log).toContain('leave remember');
      await next();
      expect(asked.at(-1)).toMatchObject({ previous_response_id: 'resp_1' });
    });

    it('of which the whole input may be missing', async () => {
      await say({ type: 'response.create' });
      await next();
      expect(asked[1]).toMatchObject({ input: continued.slice(1) });
    });
  });

  describe('that gets a large message', () => {
    it('takes a place from a byte beyond what is read ahead, until it is asked', async () => {
      connection.received(LOOSE_BYTES);
      expect(log).toEqual([]);
      connection.received(1);
      connection.received(1);
      expect(log).toEqual(['place']);
      await create();
      expect(log.filter(line => line === 'leave place')).toHaveLength(1);
      connection.received(LOOSE_BYTES);
      expect(log.filter(line => line === 'place')).toHaveLength(1);
    });

    it('reads on after a second where there is no place', () => {
      hasPlace = false;
      connection.received(LOOSE_BYTES + 1);
      expect(log).toEqual(['place', 'pause 1000']);
    });

    it('ends where others need its place', () => {
      connection.received(LOOSE_BYTES + 1);
      endings[0]!();
      expect(errors()).toMatchObject([{ error: { code: 'queue_full' } }]);
      expect(log.at(-1)).toMatch(/^close \d+ the message came too slowly$/);
    });
  });

  it('closes after a time without a message, which begins with the end of an answer', async () => {
    jest.advanceTimersByTime(IDLE_MS - 1);
    await create();
    jest.advanceTimersByTime(IDLE_MS - 1);
    expect(log.filter(line => line.startsWith('close'))).toEqual([]);
    expect([connection.quietSinceMs(IDLE_MS - 1), connection.quietSinceMs(IDLE_MS)]).toEqual([
      performance.now() - IDLE_MS + 1,
      undefined,
    ]);
    jest.advanceTimersByTime(1);
    expect(log.at(-1)).toMatch(/no message for too long$/);
  });

  it('closes where no message ever comes', () => {
    jest.advanceTimersByTime(IDLE_MS);
    expect(log).toEqual([expect.stringMatching(/no message for too long$/)]);
  });

  it('is not quiet while it answers, and leaves when it has', async () => {
    const { promise, resolve } = Promise.withResolvers<Iterable<Buffer>>();
    resume = () => promise as never;
    listener.text('{"type":"response.resume","response_id":"r"}');
    await turn();
    jest.advanceTimersByTime(2 * IDLE_MS);
    const left = connection.leave(1001, 'bye');
    await turn();
    expect([connection.quietSinceMs(0), log]).toEqual([undefined, ['resume r -1']]);
    connection.received(LOOSE_BYTES + 1);
    expect(log.at(-1)).toBe('pause');
    resolve([]);
    await left;
    expect(log).toContain('close 1001 bye');
  });

  it('gives up all that it has when its client leaves', async () => {
    await create();
    connection.received(LOOSE_BYTES + 1);
    const { promise, reject } = Promise.withResolvers<never>();
    resume = () => promise;
    for (let at = 0; at < 2; at++) listener.text('{"type":"response.resume","response_id":"r"}');
    await turn();
    [sent, log] = [[], []];
    listener.gone(true);
    expect([connection.left.aborted, log]).toEqual([true, ['leave place', 'leave remember']]);
    reject(new DomainError('request_cancelled', 'Left.'));
    await turn();
    jest.advanceTimersByTime(2 * IDLE_MS);
    expect([
      sent,
      log.filter(line => line.startsWith('close') || line.startsWith('resume r')),
    ]).toEqual([[], []]);
  });

  it.each(['{}', '"text"', '{"type":"response.resume"}', '{"type":"response.create","input":[1}'])(
    'leaves the place that %s took as a large message, though no request begins',
    async message => {
      connection.received(200_000);
      expect(log).toContain('place');
      await say(message);
      expect(errors()).toHaveLength(1);
      expect(log).toContain('leave place');
    },
  );
});
