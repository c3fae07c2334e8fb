import { type FastifyRequest } from 'fastify';
import { isWork } from '../../contracts/endpoints.js';
import { DomainError } from '../../core/errors/domain-error.js';
import { REQUEST_ID_HEADER } from '../http/request-headers.js';

/** How the answer of a request is stored. */
export interface IdempotencyOptions {
  readonly mode: 'async' | 'waiting';
  readonly name: string;
  /** As the caller would spell it, for errors. */
  readonly param: 'Idempotency-Key' | 'X-Request-Id';
}

/**
 * Undefined: the answer is not stored. @param byRequestId a given X-Request-Id means the
 * same as an Idempotency-Key
 */
export function idempotencyOptions(
  request: FastifyRequest,
  byRequestId: boolean,
): IdempotencyOptions | undefined {
  if (request.method !== 'POST' || !isWork(request.url.split('?', 1)[0] ?? ''))
    return undefined;
  const key = idempotencyKey(request.headers['idempotency-key']);
  const mode = prefersAsync(request.headers.prefer) ? 'async' : 'waiting';
  if (key !== undefined) return { mode, name: `key:${key}`, param: 'Idempotency-Key' };
  const named = byRequestId && request.headers[REQUEST_ID_HEADER] !== undefined;
  if (mode === 'waiting' && !named) return undefined;
  return { mode, name: `id:${request.id}`, param: 'X-Request-Id' };
}

/**
 * RFC 7240: comma-separated preferences with optional parameters; unknown
 * ones are ignored.
 */
function prefersAsync(header: string | readonly string[] | undefined): boolean {
  return [header ?? []]
    .flat()
    .some(line =>
      line.split(',').some(entry => /^\s*respond-async\s*(;|$)/i.test(entry)),
    );
}

function idempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && /^[\x20-\x7e]{1,255}$/.test(header)) return header;
  throw new DomainError(
    'invalid_value',
    '`Idempotency-Key` must be 1 to 255 printable ASCII characters.',
    {
      param: 'Idempotency-Key',
    },
  );
}
