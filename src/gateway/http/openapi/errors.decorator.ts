import { applyDecorators } from '@nestjs/common';
import { ApiResponse } from '@nestjs/swagger';
import { ErrorEnvelope } from '../../../contracts/openai/error-envelope.js';
import { ERROR_REGISTRY, type ErrorCode } from '../../../core/shared/domain-error.js';

/** Error answers of a route, one response per status with an example per code, straight from the registry. */
export function DescribesErrors(...codes: readonly ErrorCode[]): MethodDecorator {
  const statuses = new Set(codes.map(code => ERROR_REGISTRY[code].status));
  return applyDecorators(
    ...[...statuses].map(status => {
      const group = [...new Set(codes)].filter(code => ERROR_REGISTRY[code].status === status);
      return ApiResponse({ status, type: ErrorEnvelope, ...describedErrors(group) });
    }),
  );
}

/** Description and examples of one status. */
export const describedErrors = (codes: readonly ErrorCode[]) => ({
  description: codes.map(code => `\`${code}\`: ${ERROR_REGISTRY[code].help}`).join('\n\n'),
  examples: Object.fromEntries(codes.map(code => [code, { summary: code, value: exampleOf(code) }])),
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
  'queue_timeout',
  'no_worker',
  'model_unloaded',
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
