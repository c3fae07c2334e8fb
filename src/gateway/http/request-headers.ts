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
 * An unusable id is rejected, not replaced: its sender could never cancel or find the
 * request by it.
 * @throws DomainError `invalid_value`; the answer carries a generated id.
 */
export function refuseUnusableRequestId(headers: IncomingMessage['headers']): void {
  const given = headers[REQUEST_ID_HEADER];
  if (given === undefined || (typeof given === 'string' && ACCEPTED.test(given))) return;
  throw new DomainError(
    'invalid_value',
    '`X-Request-Id` must be 1 to 128 characters of letters, digits and . _ : - (or absent).',
    { param: 'X-Request-Id' },
  );
}

/**
 * Checks the headers that define the message framing. Unsupported values are rejected:
 * ignoring them would read another message than was sent (RFC 9110, RFC 9112).
 * @throws DomainError `invalid_value`, `expectation_failed`,
 *   `transfer_coding_unsupported`, `unsupported_media_type`
 */
export function demandPlainMessage(message: IncomingMessage): void {
  demandOneHost(message);
  const {
    expect,
    'transfer-encoding': transfer,
    'content-encoding': encoding,
  } = message.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    throw refusal('expectation_failed', 'Expect', expect, '100-continue');
  if (transfer !== undefined && transfer.toLowerCase() !== 'chunked')
    throw refusal(
      'transfer_coding_unsupported',
      'Transfer-Encoding',
      transfer,
      'chunked',
    );
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw refusal('unsupported_media_type', 'Content-Encoding', encoding, 'identity');
}

/**
 * @throws DomainError `invalid_value`: HTTP/1.1 requires exactly one Host (RFC 9112,
 *   3.2); Node keeps the first
 */
export function demandOneHost({
  httpVersion,
  headers,
  rawHeaders,
}: IncomingMessage): void {
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

const refusal = (
  code: 'expectation_failed' | 'transfer_coding_unsupported' | 'unsupported_media_type',
  param: string,
  value: string,
  allowed: string,
): DomainError =>
  new DomainError(
    code,
    `The header \`${param}\` must be ${allowed} or absent; got ${value.slice(0, 80)}.`,
    { param },
  );
