import { afterEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { register } from 'prom-client';
import { metricValues } from '../../../test/support/metric-values.js';
import { LimitEvents } from './limits.metrics.js';

describe('metrics of limits', () => {
  afterEach(() => register.clear());

  it('count refusals by limit, and calls that the shared store did not answer', async () => {
    Logger.overrideLogger(false);
    const app = await Test.createTestingModule({
      providers: [LimitEvents],
    }).compile();
    await app.init();
    const events = app.get(LimitEvents);
    for (const limit of ['requestsPerMinute', 'requestsPerMinute', 'concurrentRequests'] as const)
      events.refused(limit);
    events.storeFailed(new Error('away'));
    expect(await metricValues('switchyard_limit_refusals_total')).toEqual({
      requests_per_minute: 2,
      concurrent_requests: 1,
    });
    expect(await metricValues('switchyard_limit_store_failures_total')).toEqual({
      '': 1,
    });
    await app.close();
  });
});
