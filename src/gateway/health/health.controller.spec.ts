import { describe, expect, it } from '@jest/globals';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Authenticator } from '../../platform/auth/authenticator.js';
import { type OriginGuard } from '../../platform/auth/host-and-origin-guard.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { HealthController, RootController } from './health.controller.js';
import { type HealthService } from './health.service.js';

const SUMMARY = { status: 'ok', models: {} };
const request = { headers: {}, method: 'GET' } as FastifyRequest;

function health({ ready = true, scopes = ['admin'], isForeign = false } = {}) {
  return new HealthController(
    { ready, summary: () => SUMMARY } as unknown as HealthService,
    {
      authenticateRequest: () => Promise.resolve({ tenant: 't', scopes: new Set(scopes) }),
    } as unknown as Authenticator,
    {
      demandRequest: () => {
        if (isForeign) throw new Error('a foreign page');
      },
    } as unknown as OriginGuard,
  );
}

describe('health', () => {
  it.each([
    ['an admin', {}, SUMMARY],
    ['a key for requests', { scopes: ['inference'] }, { status: 'ok' }],
    ['the page of another origin', { isForeign: true }, { status: 'ok' }],
  ])('shows its details to %s: %#', async (_, caller, shown) => {
    expect(await health(caller).summary(request)).toEqual(shown);
  });

  it.each([
    [true, 200],
    [false, 503],
  ])('of a gateway that is ready (%p) is %p', async (ready, status) => {
    let sent = 0;
    const reply = { status: (code: number) => (sent = code) } as unknown as FastifyReply;
    expect(await health({ ready }).ready(request, reply)).toEqual(SUMMARY);
    expect([sent, health({ ready }).live()]).toEqual([status, { status: 'live' }]);
  });
});

describe('the root', () => {
  const index = (accept: string | undefined, docs: boolean) => {
    const log: unknown[] = [];
    const reply = {
      header: (...header: unknown[]) => log.push(header),
      redirect: (...to: unknown[]) => log.push(to),
      send: (body: object) => log.push(Object.keys(body).join(' ')),
    } as unknown as FastifyReply;
    new RootController(settingsFrom({ 'server.docs': docs })).index(accept, reply);
    return log;
  };

  it('leads a browser to the console, and tells programs what there is', () => {
    const vary = ['vary', 'Accept'];
    expect(index('text/html,*/*', true)).toEqual([vary, ['/console', 302]]);
    expect(index(undefined, true)).toEqual([vary, 'name api models health docs openapi']);
    expect(index('*/*', false)).toEqual([vary, 'name api models health']);
  });
});
