import { randomUUID } from 'node:crypto';
import { type IncomingMessage } from 'node:http';
import { DomainError } from '../../core/errors/domain-error.js';

export const REQUEST_ID_HEADER = 'x-request-id';

const ACCEPTED = /^[A-Za-z0-9._:-]{1,128}$/;

/**
 * The caller's `X-Request-Id` if it is usable, else a new `req_…` id (D-09). Runs first,
 * so it never throws.
 */
export function requestIdFor(message: Pick<IncomingMessage, 'headers'>): string {
  const given = message.headers[REQUEST_ID_HEADER];
  return typeof given === 'string' && ACCEPTED.test(given)
    ? given
    : `req_${randomUUID().replaceAll('-', '')}`;
}

/**
 * @throws DomainError `invalid_value`: HTTP/1.1 requires exactly one Host (RFC 9112,
 *   3.2); Node keeps the first
 */
export function demandOneHost({ httpVersion, headers, rawHeaders }: IncomingMessage): void {
  const param = 'Host';
  if (headers.host === undefined && httpVersion === '1.1')
    throw new DomainError('invalid_value', 'HTTP/1.1 requests need the header `Host`.', {
      param,
    });
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.length === 4 && /^host$/i.test(rawHeaders[at]!)) hosts += 1;
  if (hosts > 1)
    throw new DomainError('invalid_value', 'The header `Host` must be given once.', {
      param,
    });
}
