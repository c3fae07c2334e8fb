import { describe, expect, it } from '@jest/globals';
import { type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { firstValueFrom, throwError } from 'rxjs';
import { DomainError } from '../../core/errors/domain-error.js';
import { inWordsOf, NamesFields, type ParamNames } from './param-names.js';

const NAMES: ParamNames = [
  [/^stop\b/, 'stop_sequences'],
  [/^(tools\[\d+\])\.function\b/, '$1'],
];
const error = new DomainError('rate_limit_exceeded', '`stop` and `stop` of `stops`.', {
  param: 'stop',
  retryAfterMs: 5,
  foreignCode: 'theirs',
});

describe('fields of another dialect', () => {
  it('are named in its errors', () => {
    expect(inWordsOf(NAMES, error)).toMatchObject({
      code: 'rate_limit_exceeded',
      message: '`stop_sequences` and `stop_sequences` of `stops`.',
      param: 'stop_sequences',
      retryAfterMs: 5,
      foreignCode: 'theirs',
      cause: error,
    });
    const soon = new DomainError('invalid_value', 'no', { param: 'tools[1].function.name' });
    expect(inWordsOf(NAMES, soon)).toMatchObject({
      param: 'tools[1].name',
      retryAfterMs: undefined,
    });
  });

  it.each([
    new TypeError('defect'),
    new DomainError('invalid_value', 'no'),
    new DomainError('invalid_value', 'no', { param: 'model' }),
  ])('change nothing else: %s', other => {
    expect(inWordsOf(NAMES, other)).toBe(other);
  });

  it('are named in what a controller answers', async () => {
    class Controller {}
    NamesFields(NAMES)(Controller);
    const [interceptor] = Reflect.getMetadata('__interceptors__', Controller) as [NestInterceptor];
    const next: CallHandler = { handle: () => throwError(() => error) };
    const answer = await interceptor.intercept({} as ExecutionContext, next);
    await expect(firstValueFrom(answer)).rejects.toMatchObject({ param: 'stop_sequences' });
  });
});
