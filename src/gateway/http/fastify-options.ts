import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Settings } from '../../platform/config/settings.js';
import { TrustedProxies } from '../../platform/http/networks.js';
import { answerBrokenHttp, sendError } from './error-reply.js';
import { toDomainError } from './http-error.js';
import { MULTIPART_OPTIONS } from './multipart-form.js';
import { requestIdFor } from './request-headers.js';

/** A client has this long for its headers; its body is measured by `BodyWatch`. */
const HEADERS_TIMEOUT_MS = 20_000;
const HEADERS_CHECK_MS = 5000;
/**
 * Longer than the idle limit of usual load balancers (60 s), so that they close first and
 * never meet a closed socket.
 */
const KEEP_ALIVE_MS = 72_000;

/** What Jina, Cohere, vLLM and llama.cpp call the route. */
const OTHER_RERANK = /^\/(?:rerank|(?:v1\/)?reranking|v2\/rerank)(?=[/?]|$)/;

/** How the gateway listens: limits, ids, and answers for what never reaches a route. */
export function fastifyOptions({ server }: Settings) {
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
    },
    rewriteUrl: ({ url = '/' }: { readonly url?: string }) =>
      url.replace(OTHER_RERANK, '/v1/rerank'),
    routerOptions: { maxParamLength: 512, ignoreTrailingSlash: true },
    clientErrorHandler: answerBrokenHttp,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      sendError(toDomainError(error, request), request, reply),
    multipart: MULTIPART_OPTIONS,
  };
}
