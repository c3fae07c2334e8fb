import { describe, expect, it } from '@jest/globals';
import { settingsFrom } from './settings.js';
import { sharedQueueAccess } from './worker-spec.js';

describe('sharedQueueAccess', () => {
  it('is absent while the queue is embedded, also with a Redis', () => {
    expect(sharedQueueAccess(settingsFrom({ 'redis.url': 'redis://r' }))).toBeUndefined();
  });

  it('carries what gateways and workers must agree on', () => {
    const settings = settingsFrom({
      'queue.driver': 'redis',
      'redis.url': 'redis://r',
      'redis.prefix': 'p',
      'redis.lock_ms': 400,
      'redis.max_stalled': 2,
      'redis.result_ttl_ms': 5000,
      'queue.aging_ms': 6000,
      'data.dir': '/shared',
    });
    expect(sharedQueueAccess(settings)).toEqual({
      server: { host: 'r', port: 6379 },
      prefix: 'p',
      lockMs: 400,
      maxStalled: 2,
      resultTtlMs: 5000,
      agingMs: 6000,
      agingShare: 0.25,
      blobs: settings.blobs,
      data: { dir: '/shared' },
    });
  });

  it('refuses a Redis queue without a Redis', () => {
    expect(() => sharedQueueAccess(settingsFrom({ 'queue.driver': 'redis' }))).toThrow(
      'redis.url must name one',
    );
  });
});
