import { describe, expect, it } from '@jest/globals';
import { DomainError } from '../../core/errors/domain-error.js';
import { ERROR_REGISTRY, isErrorCode, errorDefinition } from './error-registry.js';

/** What OpenAI SDKs retry on their own. */
const RETRIED_BY_SDKS = (status: number) => [408, 409, 429].includes(status) || status >= 500;

describe('DomainError', () => {
  it('answers a cancel with 499, which no SDK retries', () => {
    const error = new DomainError('request_cancelled', 'gone');
    expect(errorDefinition(error)).toMatchObject({ status: 499, retry: 'never' });
    expect(RETRIED_BY_SDKS(499)).toBe(false);
  });

  it('keeps field, retry delay and cause', () => {
    const cause = new Error('below');
    const error = new DomainError('queue_full', 'full', {
      param: 'model',
      retryAfterMs: 2_000,
      cause,
    });
    expect(error).toMatchObject({
      name: 'DomainError',
      param: 'model',
      retryAfterMs: 2_000,
      cause,
      message: 'full',
    });
  });

  it('lets callers come later only with codes that SDKs retry', () => {
    for (const { status, retry } of Object.values(ERROR_REGISTRY)) {
      if (retry === 'later') expect(RETRIED_BY_SDKS(status)).toBe(true);
    }
  });

  it('knows its codes from other values', () => {
    expect([
      isErrorCode('queue_full'),
      isErrorCode('toString'),
      isErrorCode('nope'),
      isErrorCode(7),
    ]).toEqual([true, false, false, false]);
  });
});
