import { describe, expect, it } from '@jest/globals';
import { idempotencyKeyOf } from './batches.controller.js';

describe('idempotencyKeyOf', () => {
  it('takes 1 to 255 characters, or none at all', () => {
    expect(idempotencyKeyOf({})).toBeUndefined();
    expect(idempotencyKeyOf({ 'idempotency-key': 'k'.repeat(255) })).toHaveLength(255);
    for (const key of ['', 'k'.repeat(256)])
      expect(() => idempotencyKeyOf({ 'idempotency-key': key })).toThrow('255');
  });
});
