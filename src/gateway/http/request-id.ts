import { randomUUID } from 'node:crypto';
import { type IncomingMessage } from 'node:http';
import { DomainError } from '../../core/shared/domain-error.js';

export const REQUEST_ID_HEADER = 'x-request-id';

const ACCEPTED = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's `X-Request-Id` when it is usable, else a new `req_…` id (D-09). Runs before anything else, so it never throws. */
export function requestIdFor(message: Pick<IncomingMessage, 'headers'>): string {
  const given = message.headers[REQUEST_ID_HEADER];
  return typeof given === 'string' && ACCEPTED.test(given) ? given : `req_${randomUUID().replaceAll('-', '')}`;
}

/**
 * An unusable id is refused, not replaced: its sender could never cancel or find the request by it.
 * @throws DomainError `invalid_value`; the answer carries a generated id.
 */
export function refuseUnusableRequestId(headers: IncomingMessage['headers']): void {
  const given = headers[REQUEST_ID_HEADER];
  if (given === undefined || (typeof given === 'string' && ACCEPTED.test(given))) return;
  throw new DomainError(
    'invalid_value',
    '`X-Request-Id` must be 1 to 128 characters out of letters, digits and . _ : - (or be left out).',
    { param: 'X-Request-Id' },
  );
}
