import { Metadata, status } from '@grpc/grpc-js';
import { describe, expect, it } from '@jest/globals';
import { isConnectionLost } from '@switchyard/worker-protocol/failure-trailers.js';
import { DomainError, type ErrorCode } from '../../core/errors/domain-error.js';
import { ERROR_REGISTRY } from './error-registry.js';
import { decodeFailure, encodeFailure } from './status.codec.js';

const bare = (code: status, details = 'why') =>
  Object.assign(new Error(`${code} ${details}`), { code, details, metadata: new Metadata() });
const received = (error: unknown) => Object.assign(new Error('sent'), encodeFailure(error));

const codesOf = (...statuses: readonly number[]): ErrorCode[] =>
  (Object.keys(ERROR_REGISTRY) as ErrorCode[]).filter(code =>
    statuses.includes(ERROR_REGISTRY[code].status),
  );
const PERMANENT = [
  ...codesOf(400, 413, 415, 499, 507),
  'engine_failed',
  'queue_full',
  'inference_timeout',
] as const;
const FOREIGN = [
  ...codesOf(401, 403, 404, 405, 422),
  'insufficient_quota',
  'rate_limit_exceeded',
] as const;

describe('errors of a worker', () => {
  it.each(PERMANENT)('%s keeps code, parameter and message', code => {
    const decoded = decodeFailure(
      received(new DomainError(code, 'größer als 0', { param: 'längen[]' })),
    );
    expect(decoded).toMatchObject({ code, message: 'größer als 0', param: 'längen[]' });
  });

  it.each(FOREIGN)('%s is not a worker’s to send: engine_failed', code => {
    expect(decodeFailure(received(new DomainError(code, 'why'))).code).toBe('engine_failed');
  });

  it('worker_crashed says that its engine died with the request', () => {
    const crash = received(new DomainError('worker_crashed', 'the thread is gone'));
    expect(decodeFailure(crash)).toMatchObject({ code: 'worker_lost', kind: 'died', together: 2 });
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
    expect(decodeFailure(refusal)).toMatchObject({ code: 'worker_lost', kind: 'draining' });
    expect(isConnectionLost(refusal)).toBe(false);
  });

  it('its code counts whatever status it chose; another unavailability is a refusal', () => {
    const chosen = {
      ...encodeFailure(new DomainError('shutting_down', 'bye')),
      code: status.ABORTED,
    };
    expect(decodeFailure(Object.assign(new Error(), chosen))).toMatchObject({ kind: 'draining' });
    expect(
      decodeFailure(received(new DomainError('storage_unavailable', 'no disk'))),
    ).toMatchObject({ kind: 'refused' });
  });

  it('a parameter that is not percent-encoded is taken as it is', () => {
    const metadata = new Metadata();
    metadata.set('switchyard-code', 'invalid_value');
    metadata.set('switchyard-param', '100%');
    const sent = { ...bare(status.INVALID_ARGUMENT), metadata };
    expect(decodeFailure(Object.assign(new Error(), sent)).param).toBe('100%');
  });
});

describe('the code of an upstream', () => {
  const over = (foreignCode: string) =>
    decodeFailure(received(new DomainError('invalid_value', 'No.', { foreignCode })));

  it('goes with the refusal, which stays one of ours', () => {
    expect(over('string_above_max_length')).toMatchObject({
      code: 'invalid_value',
      foreignCode: 'string_above_max_length',
    });
  });

  it.each(['', 'a b', 'x'.repeat(65), 'größe', 'a\r\nb', '<b>'])(
    'is not repeated when it is no word: %j',
    text => {
      expect(over(text)).toMatchObject({ code: 'invalid_value', foreignCode: undefined });
    },
  );
});

describe('errors of the transport', () => {
  it.each<[string, status, string, ErrorCode]>([
    ['a lost connection', status.UNAVAILABLE, 'read ECONNRESET', 'worker_lost'],
    ['a cancel of our own', status.CANCELLED, 'Cancelled on client', 'request_cancelled'],
    [
      'a cancel the worker reports in the words of a reset',
      status.CANCELLED,
      'Call cancelled',
      'request_cancelled',
    ],
    ['a deadline', status.DEADLINE_EXCEEDED, 'too late', 'inference_timeout'],
    [
      'exhaustion, whatever it says',
      status.RESOURCE_EXHAUSTED,
      'larger than the memory',
      'engine_failed',
    ],
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
