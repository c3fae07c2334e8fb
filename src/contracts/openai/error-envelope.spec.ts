import { describe, expect, it } from '@jest/globals';
import { DomainError, type ErrorCode } from '../../core/errors/domain-error.js';
import { ERROR_REGISTRY } from '../errors/error-registry.js';
import { errorEnvelope, retryHeaders } from './error-envelope.js';

describe('errorEnvelope', () => {
  it('has message, type, param and code, with null where there is none', () => {
    expect(errorEnvelope(new DomainError('queue_full', 'Full.'))).toEqual({
      error: { message: 'Full.', type: 'rate_limit_error', param: null, code: 'queue_full' },
    });
    expect(
      errorEnvelope(new DomainError('invalid_value', 'No.', { param: 'speed' })).error.param,
    ).toBe('speed');
  });

  it('has the code of the server that refused, where another one did', () => {
    const error = new DomainError('invalid_value', 'No.', {
      foreignCode: 'content_policy_violation',
    });
    expect(errorEnvelope(error).error).toMatchObject({
      code: 'content_policy_violation',
      type: 'invalid_request_error',
    });
  });
});

describe('retryHeaders', () => {
  it.each([
    [undefined, '1', '1000'],
    [1, '1', '1000'],
    [1001, '2', '1001'],
    [59_999.6, '60', '60000'],
  ])('round %p ms up to whole seconds, at least 1', (retryAfterMs, seconds, ms) => {
    const error = new DomainError(
      'queue_full',
      '',
      retryAfterMs === undefined ? {} : { retryAfterMs },
    );
    expect(retryHeaders(error)).toEqual({
      'x-should-retry': 'true',
      'retry-after': seconds,
      'retry-after-ms': ms,
    });
  });

  it('make SDKs leave every permanent failure alone', () => {
    const permanent = (Object.keys(ERROR_REGISTRY) as ErrorCode[]).filter(
      code => ERROR_REGISTRY[code].retry === 'never',
    );
    expect(permanent).toContain('inference_timeout');
    for (const code of permanent)
      expect(retryHeaders(new DomainError(code, ''))).toEqual({ 'x-should-retry': 'false' });
  });
});
