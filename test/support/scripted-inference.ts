import multipart from '@fastify/multipart';
import { type ExecutionContext } from '@nestjs/common';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { type DomainError } from '../../src/core/errors/domain-error.js';
import { jsonRequest, keepJsonBytes } from '../../src/gateway/http/json-body.js';
import { MULTIPART_OPTIONS } from '../../src/gateway/http/multipart-form.js';
import {
  type InferenceCaller,
  InferenceRequest,
  type InferenceService,
} from '../../src/gateway/inference/inference.service.js';
import { type OutputStream } from '../../src/gateway/inference/output-stream.js';
import { type SettledRequest } from '../../src/gateway/registry/submitted-request.js';
import { admitAs } from '../../src/platform/auth/access-hooks.js';
import { ANYBODY, type Principal } from '../../src/platform/auth/principal.js';
import { until } from './waiting.js';

/** What a worker reports of a call. */
const EXECUTION = { deviceMs: 8, batchSize: 2, prepMs: 1, readyWaitMs: 2 };

/** One request as a service started it; the test answers it. */
export interface StartedRequest {
  readonly caller: InferenceCaller;
  readonly work: { readonly payload: Readonly<Record<string, unknown>> } & Readonly<
    Record<string, unknown>
  >;
  readonly output: OutputStream | undefined;
  readonly idleMs: number | undefined;
  answer(reply: object): void;
  fail(error: DomainError): void;
}

/** Runs no request: each waits in `started`. */
export function scriptedInference() {
  const started: StartedRequest[] = [];
  const harmless: unknown[] = [];
  const start = (
    caller: InferenceCaller,
    work: StartedRequest['work'],
    { output, idleMs }: { readonly output?: OutputStream; readonly idleMs?: number } = {},
  ) => {
    const { promise: settled, resolve } = Promise.withResolvers<SettledRequest>();
    const settle = (settlement: object) =>
      resolve({ settlement, phases: { queueWaitMs: 1 }, attempts: 1 } as unknown as SettledRequest);
    started.push({
      ...{ caller, work, output, idleMs },
      answer: reply => settle({ status: 'completed', reply: { execution: EXECUTION, ...reply } }),
      fail: error => {
        settle({ status: 'failed', error });
        output?.fail(error);
      },
    });
    const record = { settled, phases: { queueWaitMs: 1 }, request: { enqueuedAtMs: 0 } };
    return new InferenceRequest(record as never, output, () => undefined);
  };
  const demandHarmless = (...given: unknown[]) => Promise.resolve(void harmless.push(given));
  /** The next request that is started. */
  const next = async (): Promise<StartedRequest> => {
    await until(() => started.length > 0, { everyMs: 0 });
    return started.shift()!;
  };
  return { inference: { start, demandHarmless } as unknown as InferenceService, next, harmless };
}

/** A server whose only route calls `handle`. @returns sends a body, and has its answer */
export async function served(
  handle: (request: FastifyRequest, reply: FastifyReply) => unknown,
  principal: Principal = ANYBODY,
) {
  const app = fastify();
  await app.register(multipart, MULTIPART_OPTIONS);
  keepJsonBytes(app);
  app.addHook('onRequest', (request, _, done) => {
    admitAs(request, principal);
    done();
  });
  app.setErrorHandler(({ code, param, message }: DomainError, _, reply) =>
    reply.code(400).send({ code, param, message }),
  );
  app.post('/*', async (request, reply) => {
    await handle(request, reply);
    return reply;
  });
  const post = (payload: object | string, headers: Readonly<Record<string, string>> = {}) =>
    app.inject({ method: 'POST', url: '/v1', headers, payload });
  return { app, post };
}

/** The body of a request as `JsonBody` hands it to a controller. */
export const jsonOf = (request: FastifyRequest) =>
  jsonRequest(undefined, {
    switchToHttp: () => ({ getRequest: () => request }),
  } as ExecutionContext);
