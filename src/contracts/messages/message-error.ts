import { type DomainError } from '../../core/errors/domain-error.js';
import { errorDefinition } from '../errors/error-registry.js';

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

/** Errors of `/v1/messages`, in the envelope that its clients know. */
export function messageError(error: DomainError, requestId: string) {
  const { status } = errorDefinition(error);
  const usual = status >= 500 ? 'api_error' : 'invalid_request_error';
  return {
    type: 'error',
    error: { type: TYPES[status] ?? usual, message: error.message, code: error.code },
    request_id: requestId,
  };
}
