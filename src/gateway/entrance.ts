import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { AccessGuard } from '../platform/auth/access-hooks.js';
import { OriginGuard } from '../platform/auth/origin-guard.js';
import { KeyRing } from '../platform/auth/key-ring.js';
import { Authenticator } from '../platform/auth/authenticator.js';
import { type Settings } from '../platform/config/settings.js';
import { CrossOrigins } from '../platform/http/cross-origins.js';
import { unroutable } from './http/http-error.js';
import { IntakeGate } from './http/intake-gate.js';
import { reception } from './http/reception.js';
import { LimitGuard } from './limits/limit-guard.js';
import { IdempotencyService } from './requests/idempotency.service.js';
import { InnerRequests } from './requests/inner-requests.js';

/**
 * Registers what every request passes before its body is read, in the order in which it
 * stands here; the first check that refuses it is the last. A hook of Fastify's, because
 * Nest's guards and interceptors run when the body has been read, and on Nest's routes
 * only. Call it before the routes are registered.
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
  const pass = passage(app);
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', (request, reply, done) => {
    try {
      receive(request, reply);
      const { origin } = request.headers;
      if (origin !== undefined && crossOrigins.answersPreflight(origin, request, reply))
        return;
      const admission = access.admit(request, reply);
      const passed = admission
        ? admission.then(() => pass(request, reply))
        : pass(request, reply);
      if (passed instanceof Promise) passed.then(answered => answered ?? done(), done);
      else if (!passed) done();
    } catch (error) {
      done(error as Error);
    }
  });
}

/**
 * For a request whose sender may use the route. The function resolves with true when the
 * request is answered; it returns no promise as long as no check needs one. It throws the
 * DomainError that refuses the request.
 */
function passage(app: NestFastifyApplication) {
  const inner = app.get(InnerRequests);
  const limits = app.get(LimitGuard);
  const idempotency = app.get(IdempotencyService);
  return (
    request: FastifyRequest,
    reply: FastifyReply,
  ): true | undefined | Promise<true | undefined> => {
    // Who has no right learns no routes; and of a wrong URL, the body would be reported
    // as bad JSON.
    if (request.is404) throw unroutable(request);
    // It was counted, and is stored, as the request from outside that it belongs to.
    if (inner.isInner(request)) return inner.attachCaller(request);
    const admission = limits.admit(request, reply);
    return admission
      ? admission.then(() => idempotency.serve(request, reply))
      : idempotency.serve(request, reply);
  };
}
