import { type IncomingHttpHeaders } from 'node:http';
import { retryAfterMs } from '../../platform/http/retry-after.js';

/** What came of one attempt. */
export type Answer =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly contentType: string;
      readonly body: Buffer;
      /** The target's own id of the request, else the one that was sent. */
      readonly requestId: string;
      readonly retryAfterMs?: number;
      readonly shouldRetry?: boolean;
    }
  | { readonly kind: 'transport'; readonly cause: 'refused' | 'lost' | 'timeout'; readonly message: string }
  | { readonly kind: 'too_large'; readonly message: string };

export interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** @param sentId the id that the request had */
export function answerOf({ status, headers, body }: Response, sentId: string): Answer {
  const waitMs = retryAfterMs(headers, Date.now());
  const should = headers['x-should-retry'];
  return {
    kind: 'answer',
    status,
    contentType: headers['content-type'] ?? '',
    body,
    requestId: String(headers['x-request-id'] ?? sentId),
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
    ...(should === 'true' || should === 'false' ? { shouldRetry: should === 'true' } : {}),
  };
}

/** Errors before a byte of the request left: it cannot have been carried out. */
const REFUSED = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'],
  'UND_ERR_CONNECT_TIMEOUT',
]);

export function brokenBy({ code = '', message }: NodeJS.ErrnoException): Answer {
  if (REFUSED.has(code)) return transport('refused', `The target cannot be reached (${code}).`);
  return transport('lost', `The connection to the target broke (${code || message}).`);
}

export const timedOutAfter = (timeoutMs: number): Answer =>
  transport('timeout', `No answer within ${timeoutMs} ms; it is not sent again.`);

export const tooLarge = (maxBytes: number): Answer => ({
  kind: 'too_large',
  message: `The answer has more than ${maxBytes} bytes.`,
});

const transport = (cause: 'refused' | 'lost' | 'timeout', message: string): Answer => ({
  kind: 'transport',
  cause,
  message,
});
