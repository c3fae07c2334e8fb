import { status, type StatusObject } from '@grpc/grpc-js';

/** Trailer keys under which a worker's `DomainError` travels. */
export const CODE_KEY = 'switchyard-code';
export const PARAM_KEY = 'switchyard-param';
export const FOREIGN_KEY = 'switchyard-upstream-code';

/** What a worker said about a failure, as it was sent. */
export const failureTrailers = (ended: StatusObject) => ({
  code: trailer(ended, CODE_KEY),
  param: trailer(ended, PARAM_KEY),
});

/** True when the worker itself says why the call failed. */
export const isExplained = (ended: StatusObject): boolean => trailer(ended, CODE_KEY) !== undefined;

/**
 * True when the connection itself failed: the channel wants replacing. A worker that
 * refuses politely says why.
 */
export const isConnectionLost = (ended: StatusObject): boolean =>
  ended.code === status.UNAVAILABLE && !isExplained(ended);

export const trailer = (ended: StatusObject, key: string): string | undefined =>
  ended.metadata.get(key)[0]?.toString();
