import { describe, expect, it } from '@jest/globals';
import { isSameBatch, newJob } from './batches.service.js';

const ORDER: Parameters<typeof isSameBatch>[0] = {
  endpoint: '/v1/embeddings',
  inputFileId: 'file-1',
  completionWindow: '30m',
  metadata: { a: '1', b: '2' },
};

describe('sameOrder', () => {
  it('does not mind the order of metadata, nor what the server added', () => {
    const job = newJob('acme', { ...ORDER, metadata: { b: '2', a: '1' } }, 5);
    expect(isSameBatch(job, ORDER)).toBe(true);
  });

  it.each([
    { endpoint: '/v1/completions' },
    { inputFileId: 'file-2' },
    { completionWindow: '1h' },
    { metadata: { a: '1' } },
    { outputExpiresAfterS: 3600 },
    { webhook: { url: 'https://example.com' } },
  ] as const)('minds %j', change => {
    expect(isSameBatch({ ...ORDER, ...change }, ORDER)).toBe(false);
  });
});

describe('newJob', () => {
  it('has its deadline at the end of the window', () => {
    expect(newJob('acme', ORDER, 1000)).toMatchObject({
      createdAtMs: 1000,
      expiresAtMs: 1_801_000,
      status: 'validating',
    });
  });
});
