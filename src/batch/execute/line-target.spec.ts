import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Answer } from './line-reply.js';
import { LineTarget } from './line-target.js';

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
    for (const target of targets.splice(0)) target.close();
    server.closeAllConnections();
    server.close();
  });

  function open(requestTimeoutMs = 60_000): LineTarget {
    const spec = {
      urls: [`http://127.0.0.1:${(server.address() as AddressInfo).port}`],
      requestTimeoutMs,
      retries: { attempts: 1, initialMs: 1, maxMs: 1 },
      tls: { insecureSkipVerify: false },
      fetchesFileUrl: true,
      authorization: () => undefined,
    };
    targets.push(new LineTarget(spec, 1000));
    return targets.at(-1)!;
  }

  const send = (
    target: LineTarget,
    requestId: string,
    signal = new AbortController().signal,
    owner: Parameters<LineTarget['exchange']>[0]['owner'] = { tenant: 't' },
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

  it.each([
    { ends: 60_000, said: 60_000 },
    // By a clock that is ahead of this one.
    { ends: 700_000_000, said: 604_800_000 },
  ])(
    'says in how many ms the window of its job ends, 7 days at most: $ends',
    async ({ ends, said }) => {
      const owner = { tenant: 't', expiresAtMs: Date.now() + ends };
      const sent = send(open(), 'a', undefined, owner);
      await untilHeld('a');
      const left = Number(held.get('a')!.req.headers['x-switchyard-window-ms']);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(said);
      held.get('a')!.end('{}');
      await sent;
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
    const large = send(target, 'large');
    await untilHeld('large');
    held.get('large')!.end('x'.repeat(1001));
    expect(await large).toEqual({
      kind: 'too_large',
      message: 'The answer has more than 1000 bytes.',
    });
    const broken = send(target, 'broken');
    await untilHeld('broken');
    held.get('broken')!.destroy();
    expect(await broken).toMatchObject({ kind: 'transport', cause: 'lost' });
    const unconnected = open();
    server.closeAllConnections();
    await new Promise(closed => server.close(closed));
    expect(await send(unconnected, 'refused')).toMatchObject({
      kind: 'transport',
      cause: 'refused',
    });
  });
});
