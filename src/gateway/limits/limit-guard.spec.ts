import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { fastify, type FastifyInstance } from 'fastify';
import { admitAs } from '../../platform/auth/access-hooks.js';
import { ANYBODY } from '../../platform/auth/principal.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { DispatchEventBus } from '../../platform/events/events.module.js';
import { LimitGuard } from './limit-guard.js';
import { type LimitEvents } from './limits.metrics.js';
import { type RateLimiter } from './rate-limiter.js';

describe('the ticket of a request', () => {
  let server: FastifyInstance;
  let entered: number;
  let left: number;
  let asked: PromiseWithResolvers<void>;
  let counted: PromiseWithResolvers<void>;

  beforeEach(async () => {
    [entered, left] = [0, 0];
    [asked, counted] = [Promise.withResolvers(), Promise.withResolvers()];
    const limiter = {
      enter: async () => {
        entered += 1;
        asked.resolve();
        await counted.promise;
        return { charge: () => undefined, leave: () => void (left += 1) };
      },
    } as unknown as RateLimiter;
    const events = { refused: () => undefined } as unknown as LimitEvents;
    const guard = new LimitGuard(limiter, settingsFrom({}), new DispatchEventBus(), events);
    server = fastify();
    server.addHook('onRequest', async (request, reply) => {
      admitAs(request, ANYBODY);
      await guard.admit(request, reply);
    });
    for (const url of ['/v1/chat/completions', '/v1/files']) {
      server.post(url, () => 'answer');
      server.get(url, () => 'answer');
    }
    await server.listen({ port: 0, host: '127.0.0.1' });
  });
  afterEach(() => server.close());

  const send = (signal: AbortSignal | null = null): Promise<Response> =>
    fetch(`${server.listeningOrigin}/v1/chat/completions`, { method: 'POST', signal });

  it.each([
    ['GET', '/v1/chat/completions'],
    ['POST', '/v1/files'],
    ['POST', '/nowhere'],
  ])('is not taken by %s %s', async (method, url) => {
    await server.inject({ method: method as 'GET', url });
    expect(entered).toBe(0);
  });

  it('is given back with the answer', async () => {
    counted.resolve();
    expect((await send()).status).toBe(200);
    expect(left).toBe(1);
  });

  it('is given back of a caller who left while the limits were asked', async () => {
    const gone = new AbortController();
    const closed = once(server.server, 'request').then(([, response]) =>
      once(response as never, 'close'),
    );
    const answer = send(gone.signal).catch(() => 'gone');
    await asked.promise;
    gone.abort();
    await closed;
    expect([await answer, left]).toEqual(['gone', 0]);
    counted.resolve();
    for (let turn = 0; turn < 100 && left === 0; turn++)
      await new Promise(resolve => setImmediate(resolve));
    expect(left).toBe(1);
  });
});
