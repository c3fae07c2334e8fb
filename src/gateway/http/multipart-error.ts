import { DomainError } from '../../core/shared/domain-error.js';

/**
 * What went wrong while a form was read. Failures of the form or of the connection are the sender's
 * (`invalid_multipart`); those of our own disk keep their own face and end as `internal_error`.
 */
export function multipartError(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  const { message, code, syscall } = error as NodeJS.ErrnoException;
  if (syscall !== undefined && code !== 'ECONNRESET') return error;
  return new DomainError('invalid_multipart', `The multipart body cannot be read: ${message}.`, { cause: error });
}
