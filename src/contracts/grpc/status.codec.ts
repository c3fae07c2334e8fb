import { Metadata, type ServiceError, status, type StatusObject } from '@grpc/grpc-js';
import { DomainError, type ErrorCode, isErrorCode } from '../../core/shared/domain-error.js';

/** Trailer keys under which a worker's `DomainError` travels. */
const CODE_KEY = 'switchyard-code';
const PARAM_KEY = 'switchyard-param';

/** What a gRPC handler answers with instead of a reply. */
export interface CallFailure {
  readonly name: string;
  readonly message: string;
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
}

/** The gRPC status nearest to an HTTP status of the error registry; for people and proxies, the trailer decides. */
const STATUS_OF_HTTP: Readonly<Record<number, status>> = {
  400: status.INVALID_ARGUMENT,
  404: status.NOT_FOUND,
  409: status.ALREADY_EXISTS,
  413: status.INVALID_ARGUMENT,
  415: status.INVALID_ARGUMENT,
  429: status.RESOURCE_EXHAUSTED,
  499: status.CANCELLED,
  503: status.UNAVAILABLE,
  504: status.DEADLINE_EXCEEDED,
};

/**
 * Worker side; a Nest handler throws `new RpcException(encodeFailure(error))`. An error that is no `DomainError` becomes
 * `engine_failed`; its message is told, its stack is not.
 */
export function encodeFailure(error: unknown): CallFailure {
  const failure =
    error instanceof DomainError
      ? error
      : new DomainError('engine_failed', error instanceof Error ? error.message : String(error));
  const metadata = new Metadata();
  metadata.set(CODE_KEY, failure.code);
  if (failure.param !== undefined) metadata.set(PARAM_KEY, encodeURIComponent(failure.param));
  return {
    name: 'CallFailure',
    message: failure.message,
    code: STATUS_OF_HTTP[failure.definition.status] ?? status.INTERNAL,
    details: failure.message,
    metadata,
  };
}

/**
 * Gateway side. UNAVAILABLE is always `worker_lost`, also from a worker that is alive but draining: another slot can
 * take the request (D-06). All else follows the trailer; without one, the status decides.
 */
export function decodeFailure(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  if (!isServiceError(error)) return new DomainError('internal_error', messageOf(error), { cause: error });
  if (error.code === status.UNAVAILABLE) return new DomainError('worker_lost', error.details, { cause: error });
  const code = trailer(error, CODE_KEY);
  const param = trailer(error, PARAM_KEY);
  return new DomainError(isErrorCode(code) ? code : codeOfStatus(error), error.details, {
    cause: error,
    ...(param !== undefined && { param: decodeURIComponent(param) }),
  });
}

/** True when the connection itself failed: the channel wants replacing. A worker that refuses politely says why. */
export function isConnectionLost(ended: StatusObject): boolean {
  return trailer(ended, CODE_KEY) === undefined && codeOfStatus(ended) === 'worker_lost';
}

function codeOfStatus(ended: StatusObject): ErrorCode {
  switch (ended.code) {
    case status.UNAVAILABLE:
      return 'worker_lost';
    case status.CANCELLED:
      return ended.details === STREAM_RESET ? 'worker_lost' : 'request_cancelled';
    case status.DEADLINE_EXCEEDED:
      return 'inference_timeout';
    case status.RESOURCE_EXHAUSTED:
      return /larger than|too large/i.test(ended.details) ? 'file_too_large' : 'engine_failed';
    case status.INVALID_ARGUMENT:
      return 'invalid_value';
    case status.UNIMPLEMENTED:
      return 'internal_error';
    default:
      return 'engine_failed';
  }
}

/**
 * The details grpc-js gives a call whose stream was reset with CANCEL. A server does that when it tears its connections
 * down, so nobody cancelled this request; a worker that ends a call because of a cancel says so in trailers.
 */
const STREAM_RESET = 'Call cancelled';

function trailer(ended: StatusObject, key: string): string | undefined {
  const value = ended.metadata.get(key)[0];
  return value === undefined ? undefined : value.toString();
}

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error &&
  typeof (error as Partial<ServiceError>).code === 'number' &&
  'details' in error &&
  'metadata' in error;

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
