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
import { Reception } from './http/reception.js';
import { LimitGuard } from './limits/limit-guard.js';
import { IdempotencyService } from './requests/idempotency.service.js';
import { InnerRequests } from './requests/inner-requests.js';

/**
 * What every request passes before its body is read, in the order in which it stands
 * here; the first check that refuses it is the last. A hook of Fastify's, because Nest's
 * guards and interceptors run when the body has been read, and on Nest's routes only.
 */
export class Entrance {
  readonly #reception: Reception;
  readonly #crossOrigins: CrossOrigins;
  readonly #access: AccessGuard;
  readonly #inner: InnerRequests;
  readonly #limits: LimitGuard;
  readonly #idempotency: IdempotencyService;

  constructor(app: NestFastifyApplication, { server, auth }: Settings) {
    const bodyRate = { windowMs: server.bodyTimeoutMs, minRate: server.bodyMinRate };
    this.#reception = new Reception(app.get(IntakeGate), bodyRate);
    this.#crossOrigins = new CrossOrigins(server.corsOrigins);
    this.#access = new AccessGuard(
      app.get(Authenticator),
      app.get(KeyRing),
      app.get(OriginGuard),
      auth,
    );
    this.#inner = app.get(InnerRequests);
    this.#limits = app.get(LimitGuard);
    this.#idempotency = app.get(IdempotencyService);
  }

  /** Registers it; before the routes. */
  open(app: NestFastifyApplication): void {
    const fastify = app.getHttpAdapter().getInstance();
    fastify.addHook('onRequest', (request, reply, done) => {
      try {
        this.#reception.receive(request, reply);
        const { origin } = request.headers;
        if (
          origin !== undefined &&
          this.#crossOrigins.answersPreflight(origin, request, reply)
        )
          return;
        const admission = this.#access.admit(request, reply);
        const passage = admission
          ? admission.then(() => this.#pass(request, reply))
          : this.#pass(request, reply);
        if (passage instanceof Promise)
          passage.then(answered => answered ?? done(), done);
        else if (!passage) done();
      } catch (error) {
        done(error as Error);
      }
    });
  }

  /**
   * Who sent it may use the route. True: the request is answered. Not a promise as long
   * as no check needs one. @throws DomainError that refuses the request
   */
  #pass(
    request: FastifyRequest,
    reply: FastifyReply,
  ): true | undefined | Promise<true | undefined> {
    // Who has no right learns no routes; and of a wrong URL, the body would be reported
    // as bad JSON.
    if (request.is404) throw unroutable(request);
    // It was counted, and is stored, as the request from outside that it belongs to.
    if (this.#inner.isInner(request)) return this.#inner.attachCaller(request);
    const admission = this.#limits.admit(request, reply);
    return admission
      ? admission.then(() => this.#idempotency.serve(request, reply))
      : this.#idempotency.serve(request, reply);
  }
}
