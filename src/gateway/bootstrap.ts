import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Logger } from 'nestjs-pino';
import { type ReadModels } from '../platform/config/config.module.js';
import { type SettingSources } from '../platform/config/effective-settings.js';
import { type ModelSpec } from '../platform/config/model-spec.js';
import { type Settings } from '../platform/config/settings.js';
import { registerAccessHooks } from '../platform/auth/access-hooks.js';
import { Authenticator } from '../platform/auth/authenticator.js';
import { ForwardedUsers } from '../platform/auth/forwarded-users.js';
import { CrossOrigins, registerCrossOriginHooks } from '../platform/http/cross-origin.js';
import { OriginGuard } from '../platform/auth/origin-guard.js';
import { logRequests } from '../platform/logging/request-lines.js';
import { AuditLog, registerAuditHooks } from './admin/audit-log.js';
import { serveDocs } from './http/openapi/swagger.js';
import { fastifyOptions } from './http/fastify-options.js';
import { HttpErrors, registerHttpErrorHooks } from './http/http-errors.metrics.js';
import { registerHttpHooks, registerUnroutedHook } from './http/http-hooks.js';
import { IntakeGate } from './http/intake-gate.js';
import { RequestTraces } from './http/request-traces.js';
import { keepJsonBytes } from './http/json-body.js';
import { InnerRequests } from './requests/inner-requests.js';
import { IdempotencyService } from './requests/idempotency.service.js';
import { idempotency, registerIdempotencyHooks } from './requests/idempotency-hooks.js';
import { GatewayModule } from './gateway.module.js';
import { type OpenInProcessWorker } from './worker-pool/in-process-worker.js';
import { IntakeBound } from './limits/intake-bound.js';
import { RateLimiter } from './limits/rate-limiter.js';
import { CompositeWebSocketAdapter } from './websockets/composite-websocket-adapter.js';
import { registerLimitHooks } from './limits/limit-hooks.js';

export interface GatewayAppOptions {
  readonly settings: Settings;
  readonly models: readonly ModelSpec[];
  /** For `POST /admin/v1/models/reload` (default: `workers.models_file`, without asking the engines). */
  readonly readModels?: ReadModels;
  /** Where the settings came from, for `GET /admin/v1/settings`. */
  readonly sources?: SettingSources;
  /** Workers that need no process (D-37). */
  readonly inProcessWorkers?: OpenInProcessWorker;
}

/**
 * The whole gateway, built but neither listening nor hooked to process signals. `app.listen(port, host)` starts it,
 * `app.close()` drains and stops it.
 */
export async function createGateway({
  settings,
  models,
  readModels,
  sources,
  inProcessWorkers,
}: GatewayAppOptions): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(
    GatewayModule.forRoot(settings, models, readModels, sources, inProcessWorkers),
    gatewayAdapter(settings),
    { ...APPLICATION_OPTIONS, bufferLogs: true, abortOnError: false },
  );
  return configureGateway(app, settings);
}

/** Fastify's own JSON parser is strict; Nest's would also take urlencoded forms, which no route wants. */
export const APPLICATION_OPTIONS = { bodyParser: false } as const;

export function gatewayAdapter(settings: Settings): FastifyAdapter {
  return new FastifyAdapter(fastifyOptions(settings));
}

/**
 * What an application of `GatewayModule` needs before it listens; apart, so that tests can override providers first.
 */
export function configureGateway(app: NestFastifyApplication, settings: Settings): NestFastifyApplication {
  app.useLogger(app.get(Logger));
  app.useWebSocketAdapter(new CompositeWebSocketAdapter(app.getHttpServer(), app.get(OriginGuard)));
  const fastify = app.getHttpAdapter().getInstance();
  fastify.removeContentTypeParser('text/plain');
  keepJsonBytes(fastify);
  logRequests(fastify);
  app.get(RequestTraces).watch(fastify);
  const { bodyTimeoutMs: windowMs, bodyMinRate: minRate } = settings.server;
  registerHttpHooks(fastify, { gate: app.get(IntakeGate), bodyRate: { windowMs, minRate } });
  registerCrossOriginHooks(fastify, app.get(CrossOrigins));
  registerAccessHooks(fastify, {
    authenticator: app.get(Authenticator),
    publicMetrics: settings.auth.publicMetrics,
    origins: app.get(OriginGuard),
    users: new ForwardedUsers(settings.auth.forwardedUsersFrom),
  });
  registerUnroutedHook(fastify);
  registerAuditHooks(fastify, app.get(AuditLog));
  registerHttpErrorHooks(fastify, app.get(HttpErrors));
  const inner = app.get(InnerRequests);
  registerLimitHooks(fastify, {
    ...{ limiter: app.get(RateLimiter), intake: app.get(IntakeBound) },
    isCounted: ({ headers }) => inner.isInner(headers),
  });
  registerIdempotencyHooks(fastify, { service: app.get(IdempotencyService), inner, ...idempotency(settings) });
  if (settings.server.docs) serveDocs(app);
  return app;
}
