import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Logger } from 'nestjs-pino';
import { OriginGuard } from '../platform/auth/host-and-origin-guard.js';
import { type ModelSpec } from '../platform/config/model-spec.js';
import { type SettingSources } from '../platform/config/setting-source.js';
import { type Settings } from '../platform/config/settings.js';
import { TrustedProxies } from '../platform/http/trusted-proxies.js';
import { logRequests } from '../platform/logging/request-lines.js';
import { counterMetric } from '../platform/metrics/metric-provider.js';
import { type OpenInProcessWorker } from '../worker-client/in-process-worker.js';
import { AuditLog } from './admin/audit-log.js';
import { openEntrance } from './entrance.js';
import { GatewayModule } from './gateway.module.js';
import { answerBrokenHttp, sendError } from './http/error-reply.js';
import { toDomainError } from './http/http-error.js';
import { keepJsonBytes } from './http/json-body.js';
import { MULTIPART_OPTIONS } from './http/multipart-form.js';
import { serveDocs } from './http/openapi/swagger.js';
import { tendConnections } from './http/reception.js';
import { requestIdFor } from './http/request-headers.js';
import { RequestTraces } from './http/request-traces.js';
import { CompositeWebSocketAdapter } from './websockets/composite-websocket-adapter.js';

/** A client has this long for its headers; its body is measured by `BodyWatch`. */
const HEADERS_TIMEOUT_MS = 20_000;
const HEADERS_CHECK_MS = 5000;
/**
 * Longer than the idle limit of usual load balancers (60 s), so that they close first and
 * never meet a closed socket.
 */
const KEEP_ALIVE_MS = 72_000;
/**
 * A connection without traffic is probed after this time. A peer that is gone without a word is
 * noticed 10 s later (10 probes of the system), and what it asked for is cancelled.
 */
const PROBE_AFTER_MS = 30_000;

/** A model whose name has a slash, as hubs name theirs. */
const NESTED_MODEL = /^(\/v1\/models\/[^/?]+)\/([^/?]+)(?=\/?(?:\?|$))/;
/** What Jina, Cohere, vLLM and llama.cpp call the route. */
const OTHER_RERANK = /^\/(?:rerank|(?:v1\/)?reranking|v2\/rerank)(?=[/?]|$)/;

/**
 * The whole gateway, built but neither listening nor hooked to process signals.
 * `app.listen(port, host)` starts it, `app.close()` drains and stops it.
 */
export async function createGateway({
  settings,
  models,
  readModels,
  sources,
  inProcessWorkers,
}: {
  readonly settings: Settings;
  readonly models: readonly ModelSpec[];
  /**
   * For `POST /admin/v1/models/reload` (default: `workers.models_file`, without
   * asking the engines).
   */
  readonly readModels?: () => readonly ModelSpec[];
  /** Where the settings came from, for `GET /admin/v1/settings`. */
  readonly sources?: SettingSources;
  /** Workers that need no process (D-37). */
  readonly inProcessWorkers?: OpenInProcessWorker;
}): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(
    GatewayModule.forRoot(settings, models, readModels, sources, inProcessWorkers),
    gatewayAdapter(settings),
    { ...APPLICATION_OPTIONS, bufferLogs: true, abortOnError: false },
  );
  return configureGateway(app, settings);
}

/**
 * Fastify's own JSON parser is strict; Nest's would also take urlencoded forms, which
 * no route wants.
 */
export const APPLICATION_OPTIONS = { bodyParser: false } as const;

export function gatewayAdapter(settings: Settings): FastifyAdapter {
  return new FastifyAdapter(fastifyOptions(settings));
}

/** How the gateway listens: limits, ids, and answers for what never reaches a route. */
function fastifyOptions({ server }: Settings) {
  const proxies = new TrustedProxies(server.trustedProxies);
  return {
    bodyLimit: server.jsonLimitBytes,
    genReqId: requestIdFor,
    requestIdHeader: false as const,
    trustProxy: (address: string) => proxies.has(address),
    return503OnClosing: false,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // A missing Host is refused by a hook, in the envelope; Node would answer
    // without any body.
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: HEADERS_CHECK_MS,
      requestTimeout: 0,
      requireHostHeader: false,
      keepAlive: true,
      keepAliveInitialDelay: PROBE_AFTER_MS,
    },
    rewriteUrl: ({ url = '/' }: { readonly url?: string }) =>
      url.replace(OTHER_RERANK, '/v1/rerank').replace(NESTED_MODEL, '$1%2F$2'),
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: true },
    clientErrorHandler: answerBrokenHttp,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      sendError(toDomainError(error, request), request, reply),
    multipart: MULTIPART_OPTIONS,
  };
}

/**
 * What an application of `GatewayModule` needs before it listens; apart, so that tests
 * can override providers first.
 */
export function configureGateway(
  app: NestFastifyApplication,
  settings: Settings,
): NestFastifyApplication {
  app.useLogger(app.get(Logger));
  app.useWebSocketAdapter(new CompositeWebSocketAdapter(app.getHttpServer(), app.get(OriginGuard)));
  const fastify = app.getHttpAdapter().getInstance();
  fastify.removeContentTypeParser('text/plain');
  keepJsonBytes(fastify);
  logRequests(fastify);
  app.get(RequestTraces).watch(fastify);
  tendConnections(fastify);
  openEntrance(app, settings);
  watchAnswers(fastify, app.get(AuditLog));
  if (settings.server.docs) serveDocs(app);
  return app;
}

/**
 * Every answer, whoever gave it, before it is sent: a caller that was refused finds itself
 * in the next scrape. Refusals of admin routes are not in the audit log.
 */
function watchAnswers(fastify: FastifyInstance, audit: AuditLog): void {
  const errors = counterMetric('switchyard_http_errors_total');
  fastify.addHook('onSend', (request, reply, payload, done) => {
    void reply.header('openai-processing-ms', String(Math.round(reply.elapsedTime)));
    if (reply.statusCode >= 400)
      errors.inc({
        area: request.url.startsWith('/admin/') ? 'admin' : 'api',
        status: String(reply.statusCode),
      });
    const isAdmin = request.routeOptions.url?.startsWith('/admin/');
    const stored = isAdmin ? audit.note(request, reply, payload) : undefined;
    if (stored) void stored.then(() => done(null, payload));
    else done(null, payload);
  });
}
