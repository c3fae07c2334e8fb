import { applyDecorators } from '@nestjs/common';
import { ApiResponse, getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { ERROR_REGISTRY } from '../../../contracts/errors/error-registry.js';
import { messageError } from '../../../contracts/messages/message-error.js';
import { ErrorEnvelope } from '../../../contracts/openai/error-envelope.js';
import { DomainError, type ErrorCode } from '../../../core/errors/domain-error.js';
import { accessOf } from '../../../platform/auth/access-hooks.js';

const ANY_ROUTE: readonly ErrorCode[] = ['invalid_value', 'rate_limit_exceeded', 'internal_error'];
const GUARDED: readonly ErrorCode[] = [
  'invalid_api_key',
  'missing_scope',
  'host_not_allowed',
  'shutting_down',
];
const WITH_BODY: readonly ErrorCode[] = [
  'invalid_json',
  'origin_not_allowed',
  'file_too_large',
  'unsupported_media_type',
  'expectation_failed',
  'transfer_coding_unsupported',
];
const WITH_PARAMETER: readonly ErrorCode[] = ['unknown_url'];

/**
 * Adds the errors that every route of a kind can answer. A status that a route describes
 * itself stays as it is.
 */
export function withSharedErrors(document: OpenAPIObject): OpenAPIObject {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods) as unknown as [
      string,
      {
        readonly responses: Record<string, object>;
      },
    ][]) {
      for (const [status, codes] of byStatus(sharedCodes(method, path)))
        operation.responses[status] ??= response(codes);
      const dialect = DIALECTS.find(({ paths }) => paths.test(path));
      if (dialect) inWordsOf(dialect, operation.responses);
    }
  }
  return document;
}

/** Routes whose errors have another envelope than OpenAI's. */
interface Dialect {
  readonly paths: RegExp;
  readonly schema: object;
  readonly example: (code: ErrorCode, message: string) => object;
}

const TEXT = { type: 'string' };
const objectOf = (properties: Readonly<Record<string, object>>): object => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
});

const DIALECTS: readonly Dialect[] = [
  {
    paths: /^\/api\//,
    schema: objectOf({ error: TEXT }),
    example: (_, error) => ({ error }),
  },
  {
    paths: /^\/v1\/messages/,
    schema: objectOf({
      type: { enum: ['error'] },
      error: objectOf({ type: TEXT, message: TEXT, code: TEXT }),
      request_id: TEXT,
    }),
    example: (code, message) => messageError(new DomainError(code, message), 'req_1'),
  },
];

interface DescribedAnswer {
  readonly content?: Record<string, { schema?: unknown; examples?: Record<string, object> }>;
}

function inWordsOf({ schema, example }: Dialect, answers: Record<string, object>): void {
  const openAi = getSchemaPath(ErrorEnvelope);
  for (const { content = {} } of Object.values(answers) as DescribedAnswer[])
    for (const body of Object.values(content)) {
      if ((body.schema as { $ref?: string } | undefined)?.$ref !== openAi) continue;
      body.schema = schema;
      for (const code of Object.keys(body.examples ?? {}) as ErrorCode[])
        body.examples![code] = {
          summary: code,
          value: example(code, ERROR_REGISTRY[code].help),
        };
    }
}

const byStatus = (codes: Iterable<ErrorCode>): ReadonlyMap<number, ErrorCode[]> =>
  Map.groupBy(codes, code => ERROR_REGISTRY[code].status);

function sharedCodes(method: string, path: string): readonly ErrorCode[] {
  const isPublic =
    accessOf(path.replaceAll(/\{(\w+)\}/g, ':$1'), { publicMetrics: false }) === 'public';
  return [
    ...ANY_ROUTE,
    ...(isPublic ? [] : GUARDED),
    ...(method === 'post' ? WITH_BODY : []),
    ...(path.includes('{') ? WITH_PARAMETER : []),
  ];
}

function response(codes: readonly ErrorCode[]): object {
  const { description, examples } = describedErrors(codes);
  const schema = { $ref: getSchemaPath(ErrorEnvelope) };
  return { description, content: { 'application/json': { schema, examples } } };
}

/**
 * Error answers of a route, one response per status with an example per code, straight
 * from the registry.
 */
export function DescribesErrors(...codes: readonly ErrorCode[]): MethodDecorator {
  const groups = [...byStatus(new Set(codes))];
  return applyDecorators(
    ...groups.map(([status, group]) =>
      ApiResponse({ status, type: ErrorEnvelope, ...describedErrors(group) }),
    ),
  );
}

/** Description and examples of one status. */
const describedErrors = (codes: readonly ErrorCode[]) => ({
  description: codes.map(code => `\`${code}\`: ${ERROR_REGISTRY[code].help}`).join('\n\n'),
  examples: Object.fromEntries(
    codes.map(code => [code, { summary: code, value: exampleOf(code) }]),
  ),
});

function exampleOf(code: ErrorCode): ErrorEnvelope {
  const { help, type } = ERROR_REGISTRY[code];
  return { error: { message: help, type, param: null, code } };
}

/** What every route that queues work can answer. */
export const QUEUE_ERRORS = [
  'duplicate_request_id',
  'idempotency_key_reused',
  'queue_full',
  'request_cancelled',
  'engine_failed',
  'internal_error',
  'worker_lost',
  'worker_crashed',
  'queue_timeout',
  'deadline_unreachable',
  'deadline_missed',
  'no_worker',
  'upstream_unavailable',
  'model_unloaded',
  'model_load_failed',
  'shutting_down',
  'inference_timeout',
] as const satisfies readonly ErrorCode[];

/** What every route that takes fields can answer. */
export const FIELD_ERRORS = [
  'invalid_value',
  'missing_required_parameter',
  'unsupported_parameter',
  'model_kind_mismatch',
  'model_not_found',
  'file_too_large',
  'unsupported_media_type',
] as const satisfies readonly ErrorCode[];
