import { Metadata, type ServiceError, status, type StatusObject } from '@grpc/grpc-js';
import { errorMessage } from '@switchyard/engine-api/error-message.js';
import {
  CODE_KEY,
  FOREIGN_KEY,
  isConnectionLost,
  PARAM_KEY,
  trailer,
} from '@switchyard/worker-protocol/failure-trailers.js';
import { DomainError, type ErrorCode } from '../../core/errors/domain-error.js';
import { WorkerLostError } from '../../core/request/worker-lost.js';
import { ERROR_REGISTRY, isErrorCode, errorDefinition } from './error-registry.js';

/**
 * The gRPC status nearest to an HTTP status of the error registry; for people and
 * proxies, the trailer decides.
 */
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
 * Worker side; a Nest handler throws `new RpcException(encodeFailure(error))`. An
 * error that is no `DomainError` becomes `engine_failed`; its message is sent, its
 * stack is not.
 */
export function encodeFailure(error: unknown) {
  const failure =
    error instanceof DomainError ? error : new DomainError('engine_failed', errorMessage(error));
  const metadata = new Metadata();
  metadata.set(CODE_KEY, failure.code);
  if (failure.foreignCode !== undefined) metadata.set(FOREIGN_KEY, failure.foreignCode);
  if (failure.param !== undefined) metadata.set(PARAM_KEY, encodeURIComponent(failure.param));
  return {
    name: 'CallFailure',
    message: failure.message,
    code: STATUS_OF_HTTP[errorDefinition(failure).status] ?? status.INTERNAL,
    details: failure.message,
    metadata,
  };
}

/**
 * Gateway side; the contract is in proto/switchyard/v1/common.proto, "How a call fails".
 * Nothing depends on a text: the worker's trailer decides, then its status.
 * @param lostTogether calls that ended with the connection, if it broke
 */
export function decodeFailure(error: unknown, lostTogether?: number): DomainError {
  if (error instanceof DomainError) return error;
  if (!isServiceError(error))
    return new DomainError('internal_error', errorMessage(error), { cause: error });
  const loss = lossOf(error);
  // A worker does not say how many its engine had when that ended.
  if (loss)
    return new WorkerLostError(loss, error.details, error, loss === 'died' ? 2 : lostTogether);
  const param = trailer(error, PARAM_KEY);
  const foreignCode = trailer(error, FOREIGN_KEY);
  return new DomainError(codeOf(error), error.details, {
    cause: error,
    param: param === undefined ? undefined : decoded(param),
    foreignCode,
  });
}

/**
 * True when `decodeFailure` made it of what a worker said about the request: the worker
 * is up and answers.
 */
export const isWorkerAnswer = (error: unknown): boolean =>
  error instanceof DomainError && isServiceError(error.cause) && lossOf(error.cause) === undefined;

/** Codes of a worker that accepts no requests now. */
const DRAINING: ReadonlySet<string | undefined> = new Set<ErrorCode>([
  'shutting_down',
  'no_worker',
  'upstream_unavailable',
]);

/** Undefined: the worker answered. */
function lossOf(ended: StatusObject): WorkerLostError['kind'] | undefined {
  if (isConnectionLost(ended)) return 'disconnected';
  const code = trailer(ended, CODE_KEY);
  if (DRAINING.has(code)) return 'draining';
  if (code === 'worker_crashed') return 'died';
  return ended.code === status.UNAVAILABLE || code === 'worker_lost' ? 'refused' : undefined;
}

/** Statuses of codes about the input. */
const INPUT_STATUSES: ReadonlySet<number> = new Set([400, 413, 415]);
/** Other codes that a worker may send. */
const WORKER_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'duplicate_request_id',
  'request_cancelled',
  'engine_failed',
  'internal_error',
  'queue_full',
  'inference_timeout',
  'storage_full',
]);

/**
 * A code that is not the worker's to send, such as `invalid_api_key`, is a failure
 * of its engine.
 */
function codeOf(ended: ServiceError): ErrorCode {
  const code = trailer(ended, CODE_KEY);
  if (!isErrorCode(code)) return CODE_OF_STATUS[ended.code] ?? 'engine_failed';
  return WORKER_CODES.has(code) || INPUT_STATUSES.has(ERROR_REGISTRY[code].status)
    ? code
    : 'engine_failed';
}

const CODE_OF_STATUS: Readonly<Partial<Record<status, ErrorCode>>> = {
  [status.CANCELLED]: 'request_cancelled',
  [status.DEADLINE_EXCEEDED]: 'inference_timeout',
  [status.INVALID_ARGUMENT]: 'invalid_value',
  [status.UNIMPLEMENTED]: 'internal_error',
};

/** Percent-encoded by our workers; another one may send it as it is. */
function decoded(param: string): string {
  try {
    return decodeURIComponent(param);
  } catch {
    return param;
  }
}

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error &&
  typeof (error as Partial<ServiceError>).code === 'number' &&
  'details' in error &&
  'metadata' in error;
