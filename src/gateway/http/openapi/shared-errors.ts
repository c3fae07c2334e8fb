import { getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { ErrorEnvelope } from '../../../contracts/openai/error-envelope.js';
import { ERROR_REGISTRY, type ErrorCode } from '../../../core/shared/domain-error.js';
import { accessOf } from '../../../platform/auth/access-hooks.js';
import { describedErrors } from './errors.decorator.js';

const ANY_ROUTE: readonly ErrorCode[] = ['invalid_value', 'rate_limit_exceeded', 'internal_error'];
const GUARDED: readonly ErrorCode[] = ['invalid_api_key', 'missing_scope', 'host_not_allowed', 'shutting_down'];
const WITH_BODY: readonly ErrorCode[] = [
  'invalid_json',
  'origin_not_allowed',
  'file_too_large',
  'unsupported_media_type',
  'expectation_failed',
  'transfer_coding_unsupported',
];
const WITH_PARAMETER: readonly ErrorCode[] = ['unknown_url'];

/** Adds the errors that every route of a kind can answer. A status that a route describes itself stays as it is. */
export function withSharedErrors(document: OpenAPIObject): OpenAPIObject {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods) as unknown as [string, Operation][]) {
      for (const code of sharedCodes(method, path)) {
        const { status } = ERROR_REGISTRY[code];
        const alike = sharedCodes(method, path).filter(other => ERROR_REGISTRY[other].status === status);
        operation.responses[status] ??= response(alike);
      }
    }
  }
  return document;
}

interface Operation {
  readonly responses: Record<string, object>;
}

function sharedCodes(method: string, path: string): readonly ErrorCode[] {
  const isPublic = accessOf(path.replaceAll(/\{(\w+)\}/g, ':$1'), { publicMetrics: false }) === 'public';
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
