import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AccessGuard } from '../platform/auth/access-hooks.js';
import { Authenticator } from '../platform/auth/authenticator.js';
import { OriginGuard } from '../platform/auth/host-and-origin-guard.js';
import { KeyRing } from '../platform/auth/key-ring.js';
import { type Settings } from '../platform/config/settings.js';
import { CrossOrigins } from '../platform/http/cross-origins.js';
import { unroutable } from './http/http-error.js';
import { IntakeGate } from './http/intake-gate.js';
import { reception } from './http/reception.js';
import { LimitGuard } from './limits/limit-guard.js';
import { IdempotencyService } from './requests/idempotency.service.js';
import { InnerRequests } from './requests/inner-requests.js';
import { Replays } from './requests/replays.js';

/**
 * Registers what every request passes before its body is read, in the order in which it
 * stands here; the first check that refuses it is the last. Hooks of Fastify's, because
 * Nest's guards and interceptors run when the body has been read, and on Nest's routes
 * only: a refused upload would be received first, and the pages of the API and unknown
 * paths would be open. The scope of admin routes, which are Nest's and have small bodies,
 * is asked for by a guard (`http/admin-controller.ts`). None returns a promise as long as
 * no check needs one. Call it before the routes are registered.
 */
export function openEntrance(app: NestFastifyApplication, settings: Settings): void {
  const receive = reception(app.get(IntakeGate), settings);
  const crossOrigins = new CrossOrigins(settings.server.corsOrigins);
  const access = new AccessGuard(
    app.get(Authenticator),
    app.get(KeyRing),
    app.get(OriginGuard),
    settings.auth,
  );
  const inner = app.get(InnerRequests);
  const limits = app.get(LimitGuard);
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', (request, reply, done) => {
    receive(request, reply);
    const { origin } = request.headers;
    if (origin !== undefined && crossOrigins.answersPreflight(origin, request, reply)) return;
    const isInner = inner.admit(request);
    const count = (): Promise<void> | undefined => {
      // Who has no right learns no routes; and of a wrong URL, the body would be reported
      // as bad JSON.
      if (request.is404) throw unroutable(request);
      return isInner ? undefined : limits.admit(request, reply);
    };
    const admission = isInner ? undefined : access.admit(request, reply);
    const counted = admission ? admission.then(count) : count();
    if (counted) counted.then(() => done(), done);
    else done();
  });
  storeAnswers(app);
}

/** Joins or starts requests that may be sent again, and stores what they are answered. */
function storeAnswers(app: NestFastifyApplication): void {
  const idempotency = app.get(IdempotencyService);
  const replays = app.get(Replays);
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('preParsing', (request, reply, payload, done) => {
    const served = idempotency.serve(request, reply);
    if (served) served.then(body => body && done(null, body), done);
    else done(null, payload);
  });
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    const kept = replays.keep(reply, payload);
    if (kept) kept.then(sent => done(null, sent), done);
    else done(null, payload);
  });
}
