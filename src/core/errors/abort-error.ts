import { DomainError } from './domain-error.js';

/**
 * The error that an aborted request ends with: the one given to `abort()`, so that the
 * cause of the abort decides the answer.
 */
export function abortError(signal: AbortSignal): DomainError {
  const reason: unknown = signal.reason;
  return reason instanceof DomainError
    ? reason
    : new DomainError('request_cancelled', 'The request was cancelled.');
}
