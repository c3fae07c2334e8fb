import { type DomainError } from '../errors/domain-error.js';

/**
 * How a request ended. Exactly one per accepted request (D-04). The statuses are label
 * values of `scheduler_requests_total` (D-10).
 */
export type Settlement<Reply = unknown> =
  | { readonly status: 'completed'; readonly reply: Reply }
  | { readonly status: 'failed'; readonly error: DomainError }
  | { readonly status: 'cancelled'; readonly error: DomainError };

/** The cause of a cancel, sent to the worker and logged. */
export type CancelReason =
  | 'client'
  | 'disconnect'
  | 'operator'
  | 'deadline'
  | 'silence'
  | 'shutdown'
  | 'unload'
  | 'load_failed';
