import { HttpException } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { allowedMethods } from '../../contracts/endpoints.js';
import { DomainError } from '../../core/errors/domain-error.js';

/** Characters of a path that an error quotes. */
const LONGEST_PATH = 200;

/**
 * Converts anything thrown into the error the caller receives. Unexpected errors
 * are `internal_error`.
 */
export function toDomainError(
  thrown: unknown,
  request: Pick<FastifyRequest, 'method' | 'url'>,
): DomainError {
  if (thrown instanceof DomainError) return thrown;
  const status = statusOf(thrown);
  const message = thrown instanceof Error ? thrown.message : '';
  switch (status) {
    case 400:
      return codeOf(thrown) === 'FST_ERR_BAD_URL'
        ? unroutable(request)
        : new DomainError('invalid_json', `The JSON body cannot be parsed: ${message}.`, {
            cause: thrown,
          });
    case 404:
    case 414:
      return unroutable(request);
    case 413:
      return new DomainError(
        'file_too_large',
        'The body is larger than `server.json_limit_bytes`.',
      );
    case 415:
      return new DomainError(
        'unsupported_media_type',
        'The Content-Type must be application/json, or multipart/form-data where a file is uploaded.',
      );
    default:
      return new DomainError(
        'internal_error',
        'Something went wrong on our side; the log has the details.',
        { cause: thrown },
      );
  }
}

/** No route matches: the path is unknown, or accepts other methods only. */
export function unroutable({ method, url }: Pick<FastifyRequest, 'method' | 'url'>): DomainError {
  const path = url.split('?', 1)[0] ?? url;
  const shown = path.length > LONGEST_PATH ? `${path.slice(0, LONGEST_PATH)}…` : path;
  const allowed = allowedMethods(path);
  // A path that matches a route and still was not routed has a part that cannot be
  // decoded, or is too long.
  if (allowed.length === 0 || allowed.includes(method))
    return new DomainError(
      'unknown_url',
      `Unknown request URL: ${method} ${shown}.${hintFor(path)}`,
    );
  return new DomainError(
    'method_not_allowed',
    `${shown} accepts ${allowed.join(', ')}, not ${method}.`,
  );
}

/** A base URL has `/v1` twice, or not at all, or ends with a slash. */
function hintFor(path: string): string {
  const single = path.replaceAll(/\/{2,}/g, '/');
  const meant = single.startsWith('/v1/v1/')
    ? single.slice('/v1'.length)
    : allowedMethods(single).length > 0
      ? single
      : `/v1${single}`;
  return meant !== path && allowedMethods(meant).length > 0
    ? ` Did you mean ${meant.slice(0, LONGEST_PATH)}?`
    : '';
}

function statusOf(thrown: unknown): number | undefined {
  if (thrown instanceof HttpException) return thrown.getStatus();
  const { statusCode } = (thrown ?? {}) as { statusCode?: unknown };
  return typeof statusCode === 'number' ? statusCode : undefined;
}

/** Nest wraps Fastify's errors; the code is on the inner one. */
function codeOf(thrown: unknown): unknown {
  const inner = thrown instanceof HttpException ? thrown.cause : thrown;
  return (inner as { code?: unknown } | undefined)?.code;
}
