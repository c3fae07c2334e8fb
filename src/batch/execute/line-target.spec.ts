import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Answer, OpenReplies } from './line-reply.js';
import { LineTarget } from './line-target.js';

type Spec = Partial<LineTarget['spec']>;
type Owner = Parameters<LineTarget['exchange']>[0]['owner'];

describe('LineTarget', () => {
  let server: Server;
  const targets: LineTarget[] = [];
  /** Requests that wait for their answer, by id. */
  const held = new Map<string, ServerResponse>();
  beforeEach(async () => {
    held.clear();
    server = createServer(
      ({ headers }, response) => void held.set(String(headers['x-request-id']), response),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
    for (const target of targets.splice(0)) target.close();
    server.closeAllConnections();
    server.close();
  });

  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function open(requestTimeoutMs = 60_000, more: Spec = {}): LineTarget {
    const spec = {
      urls: [url()],
      requestTimeoutMs,
      retries: { attempts: 1, initialMs: 1, maxMs: 1 },
      tls: { insecureSkipVerify: false },
      fetchesFileUrl: true,
      authorization: () => undefined,
      ...more,
    };
    targets.push(new LineTarget(spec, 1000));
    return targets.at(-1)!;
  }

  const send = (
    target: LineTarget,
    requestId: string,
    signal = new AbortController().signal,
    owner: Owner = { tenant: 't' },
  ): Promise<Answer> =>
    target.exchange({
      path: '/v1/chat/completions',
      contentType: 'application/json',
      bytes: 2,
      requestId,
      owner,
      body: () => Buffer.from('{}'),
      signal,
    });

  async function untilHeld(...ids: string[]) {
    while (!ids.every(id => held.has(id))) await once(server, 'request');
  }

  /** Sends a line that is answered as `respond` does. */
  async function exchanged(
    target: LineTarget,
    id: string,
    respond: (response: ServerResponse) => unknown = response => response.end('{}'),
    owner?: Owner,
  ) {
    const sent = send(target, id, undefined, owner);
    await untilHeld(id);
    const response = held.get(id)!;
    respond(response);
    return { answer: await sent, headers: response.req.headers, path: response.req.url! };
  }

  /** The headers and the path that one line arrives with. */
  const arrived = (more: Spec, owner: object = {}) =>
    exchanged(open(60_000, more), 'a', undefined, { tenant: 't', ...owner });

  it.each([
    { ends: 60_000, said: 60_000 },
    // By a clock that is ahead of this one.
    { ends: 700_000_000, said: 604_800_000 },
  ])(
    'says in how many ms the window of its job ends, 7 days at most: $ends',
    async ({ ends, said }) => {
      const { headers } = await arrived({}, { expiresAtMs: Date.now() + ends });
      const left = Number(headers['x-switchyard-window-ms']);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(said);
    },
  );

  it('is tried at every address until all refuse it, and at one while all are away', async () => {
    const { spec } = open();
    const retries = { ...spec.retries, initialMs: 60_000, maxMs: 60_000 };
    const urls = [...spec.urls, ...spec.urls];
    const target = new LineTarget({ ...spec, urls, retries, renewTokens: () => undefined }, 1000);
    targets.push(target);
    let calls = 0;
    server.on('request', (_, response) => (calls++, response.writeHead(401).end()));
    const seen: number[] = [];
    for (const id of ['a', 'b']) {
      expect(await send(target, id)).toMatchObject({ kind: 'transport', cause: 'refused' });
      seen.push(calls);
    }
    expect(seen).toEqual([2, 3]);
  });

  // Its error had no listener yet, and ended the processor: a lease was lost while a line
  // was being read.
  it('sends nothing for a line that was given up before', async () => {
    await expect(send(open(), 'a', AbortSignal.abort(new Error('given up')))).rejects.toThrow(
      'given up',
    );
    await turn();
    expect(held.size).toBe(0);
  });

  it('releases all lines of a job at once, and none of another', async () => {
    const target = open();
    const [given, kept] = [new AbortController(), new AbortController()];
    const sent = ['a', 'b', 'c', 'd', 'e'].map((id, at) =>
      send(target, id, (at % 2 ? kept : given).signal),
    );
    await untilHeld('a', 'b', 'c', 'd', 'e');
    held.get('a')!.end('{}');
    await sent[0];
    given.abort(new Error('given up'));
    for (const at of [2, 4]) await expect(sent[at]).rejects.toThrow('given up');
    for (const id of ['b', 'd']) held.get(id)!.end('{}');
    for (const at of [1, 3]) expect(await sent[at]).toMatchObject({ kind: 'answer', status: 200 });
  });

  it('gives each line its whole time, whatever comes of others meanwhile', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const target = open(500);
    const timedOut = {
      kind: 'transport',
      cause: 'timeout',
      message: 'No answer within 500 ms; the request is not retried.',
    };
    const answered = send(target, 'answered');
    const late = send(target, 'late');
    await untilHeld('answered', 'late');
    jest.advanceTimersByTime(300);
    held.get('answered')!.end('{}');
    expect(await answered).toMatchObject({ kind: 'answer', requestId: 'answered' });
    const later = send(target, 'later').then(answer => [answer, performance.now()] as const);
    await untilHeld('later');
    const startMs = performance.now();
    jest.advanceTimersByTime(200);
    expect(await late).toEqual(timedOut);
    jest.advanceTimersByTime(300);
    expect(await later).toEqual([timedOut, startMs + 500]);
    const rested = send(target, 'after a rest');
    await untilHeld('after a rest');
    jest.advanceTimersByTime(500);
    expect(await rested).toEqual(timedOut);
  });

  it('distinguishes what is too large, what broke and what cannot be reached', async () => {
    const target = open();
    const large = await exchanged(target, 'large', response => response.end('x'.repeat(1001)));
    const message = 'The answer has more than 1000 bytes.';
    expect(large.answer).toEqual({ kind: 'too_large', message });
    const broken = await exchanged(target, 'broken', response => response.destroy());
    expect(broken.answer).toMatchObject({ kind: 'transport', cause: 'lost' });
    const unconnected = open();
    server.closeAllConnections();
    await new Promise(closed => server.close(closed));
    expect(await send(unconnected, 'refused')).toMatchObject({
      kind: 'transport',
      cause: 'refused',
    });
  });

  const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

  it('names the request, its priority and itself, and authorizes it for its tenant', async () => {
    const authorization = ({ tenant }: { tenant: string }) => `Bearer of ${tenant}`;
    const { headers, path } = await arrived({ authorization });
    expect([path, headers]).toEqual([
      '/v1/chat/completions',
      expect.objectContaining({
        ...{ 'content-type': 'application/json', 'content-length': '2', 'x-request-id': 'a' },
        ...{ 'x-priority': 'batch', 'user-agent': 'switchyard-batch' },
        authorization: 'Bearer of t',
      }),
    ]);
  });

  it.each<[string, Spec, object, string[]]>([
    ['without a window or a trace', {}, {}, []],
    ['past its window', {}, { expiresAtMs: 0 }, []],
    ['within its window', {}, { expiresAtMs: Infinity }, ['x-switchyard-window-ms']],
    ['of a trace', {}, { traceparent: TRACE }, ['x-switchyard-trace-link']],
    [
      'to another server',
      { fetchesFileUrl: false },
      { expiresAtMs: Infinity, traceparent: TRACE },
      [],
    ],
  ])(
    'says what only the gateway knows, in the headers of a line %s',
    async (_, more, owner, names) => {
      const { headers } = await arrived(more, owner);
      const known = Object.keys(headers).filter(name =>
        /switchyard|trace|authorization/.test(name),
      );
      expect(known).toEqual(names);
      if (names.length > 0) expect(headers[names[0]!]).toMatch(/^(604800000|00-0af.*)$/);
    },
  );

  it.each([
    ['/base', '/base/v1/chat/completions'],
    ['', '/v1/chat/completions'],
  ])('is called below its own path: %s', async (prefix, expected) => {
    expect((await arrived({ urls: [`${url()}${prefix}`] })).path).toBe(expected);
  });

  it('streams a body that comes in pieces', async () => {
    const received = new Promise<string>(resolve => {
      server.on('request', request => {
        let text = '';
        request.on('data', chunk => (text += String(chunk))).on('end', () => resolve(text));
      });
    });
    const body = async function* () {
      yield await Promise.resolve(Buffer.from('{'));
      yield Buffer.from('}');
    };
    const sent = open().exchange({
      ...{ path: '/x', contentType: 'a/b', bytes: 2, requestId: 'a', owner: { tenant: 't' } },
      ...{ body, signal: new AbortController().signal },
    });
    expect(await received).toBe('{}');
    held.get('a')!.end('{}');
    expect(await sent).toMatchObject({ status: 200 });
  });

  it.each([
    [401, true, 1, { kind: 'transport', cause: 'refused' }],
    [401, false, 0, { kind: 'answer', status: 401 }],
    [403, true, 0, { kind: 'answer', status: 403 }],
  ])('answers %i; its token is one of ours: %s', async (status, isOurs, renewals, expected) => {
    const renewTokens = jest.fn();
    const target = open(60_000, isOurs ? { renewTokens } : {});
    const { answer } = await exchanged(target, 'a', response => response.writeHead(status).end());
    expect(answer).toMatchObject(expected);
    expect(renewTokens).toHaveBeenCalledTimes(renewals);
  });

  it('sends each line to the address with the fewest in flight, to the first of several', async () => {
    const target = open(60_000, { urls: ['a', 'b', 'c'].map(name => `${url()}/${name}`) });
    const sent = new Map<string, Promise<Answer>>();
    const placeOf = async (id: string) => {
      sent.set(id, send(target, id));
      await untilHeld(id);
      return held.get(id)!.req.url!.at(1);
    };
    const answered = async (id: string) => {
      held.get(id)!.end('{}');
      await sent.get(id);
    };
    const places: (string | undefined)[] = [];
    for (const id of ['1', '2', '3', '4']) places.push(await placeOf(id));
    await answered('2');
    for (const id of ['5', '6']) places.push(await placeOf(id));
    expect(places.join('')).toBe('abcabb');
    for (const id of ['1', '3', '4', '5', '6']) await answered(id);
  });

  it('leaves an address that is away alone until it is due, then probes it with one line', async () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(1000);
    const retries = { attempts: 1, initialMs: 100, maxMs: 100 };
    const target = open(60_000, { retries, urls: ['a', 'b'].map(name => `${url()}/${name}`) });
    expect([target.isReachable(0), target.name]).toEqual([true, `${url()}/a,${url()}/b`]);
    const placeOf = async (id: string, status: number, headers: Record<string, string> = {}) => {
      const respond = (response: ServerResponse) => response.writeHead(status, headers).end('{}');
      return (await exchanged(target, id, respond)).path.at(1);
    };
    expect(await placeOf('1', 503)).toBe('a');
    expect([await placeOf('2', 200), await placeOf('3', 200)]).toEqual(['b', 'b']);
    now.mockReturnValue(1099);
    expect(await placeOf('4', 200)).toBe('b');
    now.mockReturnValue(1100);
    const probe = send(target, 'probe');
    await untilHeld('probe');
    expect(held.get('probe')!.req.url!.at(1)).toBe('a');
    expect(await placeOf('5', 200)).toBe('b');
    // A timeout of it says nothing; any answer brings it back.
    held.get('probe')!.writeHead(400).end('{}');
    await probe;
    expect(await placeOf('6', 200)).toBe('a');
    // As long as it asked for.
    expect(await placeOf('7', 503, { 'retry-after': '9' })).toBe('a');
    expect(await placeOf('8', 503, { 'retry-after': '5' })).toBe('b');
    expect([6099, 6100].map(nowMs => target.isReachable(nowMs))).toEqual([false, true]);
    // While all are away, a line goes to the first.
    expect(await placeOf('9', 200)).toBe('a');
    expect(target.isReachable(1100)).toBe(true);
  });

  it('tries the next address after one that cannot be reached', async () => {
    const gone = createServer();
    await once(gone.listen(0, '127.0.0.1'), 'listening');
    const { port } = gone.address() as AddressInfo;
    gone.close();
    await once(gone, 'close');
    const target = open(60_000, { urls: [`http://127.0.0.1:${port}`, url()] });
    const { answer } = await exchanged(target, 'a');
    expect(answer).toMatchObject({ kind: 'answer', status: 200 });
    const lost = await exchanged(target, 'b', response => response.destroy());
    // It was sent: another address might do its work a second time.
    expect(lost.answer).toMatchObject({ kind: 'transport', cause: 'lost' });
  });

  it('breaks its connections when it is closed', async () => {
    const close = jest.spyOn(OpenReplies.prototype, 'close');
    const target = open();
    const sent = send(target, 'a');
    await untilHeld('a');
    target.close();
    expect(await sent).toMatchObject({ kind: 'transport' });
    expect(close).toHaveBeenCalledTimes(1);
  });
});
