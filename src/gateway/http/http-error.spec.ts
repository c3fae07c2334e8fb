import { describe, expect, it } from '@jest/globals';
import {
  BadRequestException,
  HttpException,
  NotFoundException,
  PayloadTooLargeException,
} from '@nestjs/common';
import { DomainError } from '../../core/errors/domain-error.js';
import { toDomainError } from './http-error.js';

const line = { method: 'GET', url: '/v1/nothing?key=secret' };

describe('toDomainError', () => {
  it('leaves a domain error as it is', () => {
    const error = new DomainError('queue_full', 'Full.');
    expect(toDomainError(error, line)).toBe(error);
  });

  it.each([
    [new NotFoundException(), 'unknown_url'],
    [new PayloadTooLargeException(), 'file_too_large'],
    [new BadRequestException('Unexpected token'), 'invalid_json'],
    [new HttpException('no', 415), 'unsupported_media_type'],
    [Object.assign(new Error('unsupported'), { statusCode: 415 }), 'unsupported_media_type'],
    [new Error('secret detail'), 'internal_error'],
    [new HttpException('secret detail', 502), 'internal_error'],
    ['a string', 'internal_error'],
    [undefined, 'internal_error'],
  ])('%p is %s', (thrown, code) => {
    expect(toDomainError(thrown, line).code).toBe(code);
  });

  it('tells nothing of what went wrong inside, and keeps it for the log', () => {
    const thrown = new Error('secret detail');
    const error = toDomainError(thrown, line);
    expect(error.message).not.toContain('secret');
    expect(error.cause).toBe(thrown);
  });

  it.each([
    ['/chat/completions', ' Did you mean /v1/chat/completions?'],
    ['/models/x?key=secret', ' Did you mean /v1/models/x?'],
    ['/v1/v1/audio/speech', ' Did you mean /v1/audio/speech?'],
    ['/v1//models', ' Did you mean /v1/models?'],
    ['//v1/chat/completions', ' Did you mean /v1/chat/completions?'],
    ['/v1/images/generations', ''],
    ['/v1/requests/%zz/cancel', ''],
    ['/nothing', ''],
  ])('is unknown_url for POST %s%s', (url, hint) => {
    const { code, message } = toDomainError(new NotFoundException(), {
      method: 'POST',
      url,
    });
    expect([code, message]).toEqual([
      'unknown_url',
      `Unknown request URL: POST ${url.split('?')[0]!}.${hint}`,
    ]);
  });

  it('keeps the query out of the message', () => {
    expect(toDomainError(new NotFoundException(), line).message).toBe(
      'Unknown request URL: GET /v1/nothing.',
    );
  });
});
