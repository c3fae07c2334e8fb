import { describe, expect, it } from '@jest/globals';
import { Metadata, status } from '@grpc/grpc-js';
import { DomainError, ERROR_REGISTRY, type ErrorCode } from '../../core/shared/domain-error.js';
import { decodeFailure, encodeFailure, isConnectionLost } from './status.codec.js';

const bare = (code: status, details = 'why') =>
  Object.assign(new Error(`${code} ${details}`), { code, details, metadata: new Metadata() });
const received = (error: unknown) => Object.assign(new Error('sent'), encodeFailure(error));

const PERMANENT = (Object.keys(ERROR_REGISTRY) as ErrorCode[]).filter(code => ERROR_REGISTRY[code].status !== 503);

describe('errors of a worker', () => {
  it.each(PERMANENT)('%s keeps code, parameter and message', code => {
    const decoded = decodeFailure(received(new DomainError(code, 'größer als 0', { param: 'längen[]' })));
    expect(decoded).toMatchObject({ code, message: 'größer als 0', param: 'längen[]' });
  });

  it('an error that is no DomainError becomes engine_failed with its message', () => {
    expect(decodeFailure(received(new Error('model exploded')))).toMatchObject({
      code: 'engine_failed',
      message: 'model exploded',
      param: undefined,
    });
  });

  it('a draining worker that refuses is worker_lost, on a sound connection', () => {
    const refusal = received(new DomainError('shutting_down', 'draining'));
    expect(decodeFailure(refusal).code).toBe('worker_lost');
    expect(isConnectionLost(refusal)).toBe(false);
  });
});

describe('errors of the transport', () => {
  it.each<[string, status, string, ErrorCode]>([
    ['a lost connection', status.UNAVAILABLE, 'read ECONNRESET', 'worker_lost'],
    ['a reset by a server that goes', status.CANCELLED, 'Call cancelled', 'worker_lost'],
    ['a cancel of our own', status.CANCELLED, 'Cancelled on client', 'request_cancelled'],
    ['a cancel the worker tells of', status.CANCELLED, 'stopped at a segment', 'request_cancelled'],
    ['a deadline', status.DEADLINE_EXCEEDED, 'too late', 'inference_timeout'],
    [
      'a message over the limit',
      status.RESOURCE_EXHAUSTED,
      'Received message larger than max (9 vs 4)',
      'file_too_large',
    ],
    ['exhaustion of another kind', status.RESOURCE_EXHAUSTED, 'calm down', 'engine_failed'],
    ['a method the worker does not have', status.UNIMPLEMENTED, 'no such method', 'internal_error'],
    ['anything else', status.DATA_LOSS, 'gone', 'engine_failed'],
  ])('%s', (_, code, details, expected) => {
    expect(decodeFailure(bare(code, details)).code).toBe(expected);
  });

  it('only a lost connection asks for a new channel', () => {
    expect(isConnectionLost(bare(status.UNAVAILABLE))).toBe(true);
    expect(isConnectionLost(bare(status.INTERNAL))).toBe(false);
    expect(isConnectionLost(bare(status.OK))).toBe(false);
  });

  it('keeps the first error as cause, and passes a DomainError on as it is', () => {
    const lost = bare(status.UNAVAILABLE);
    const decoded = decodeFailure(lost);
    expect(decoded.cause).toBe(lost);
    expect(decodeFailure(decoded)).toBe(decoded);
  });

  it('an error that gRPC did not make is internal_error', () => {
    expect(decodeFailure(new TypeError('x is not a function')).code).toBe('internal_error');
  });
});
