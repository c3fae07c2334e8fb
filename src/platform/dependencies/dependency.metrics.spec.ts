import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { register } from 'prom-client';
import { metricValues } from '../../../test/support/metric-values.js';
import { DependencyMonitor } from './dependency-monitor.js';
import { dependencyMetricProviders } from './dependency.metrics.js';

const NOW = Date.UTC(2026, 0, 1);

describe('metrics of dependencies', () => {
  afterEach(() => {
    jest.useRealTimers();
    register.clear();
  });

  it('show what is up and how old its last probe is, and nothing of what was never probed', async () => {
    jest.useFakeTimers({ now: NOW, advanceTimers: true });
    const states = () =>
      new Map([
        ['redis', { status: 'up', sinceMs: 0, checkedMs: NOW - 2500 }],
        ['database', { status: 'down', sinceMs: 0, checkedMs: NOW - 500 }],
        ['blobs', { status: 'unknown', sinceMs: 0 }],
      ]);
    await Test.createTestingModule({
      providers: [
        ...dependencyMetricProviders,
        { provide: DependencyMonitor, useValue: { states } },
      ],
    }).compile();
    expect(await metricValues('switchyard_dependency_up')).toEqual({ redis: 1, database: 0 });
    expect(await metricValues('switchyard_dependency_probe_age_seconds')).toEqual({
      redis: expect.closeTo(2.5, 0) as unknown,
      database: expect.closeTo(0.5, 0) as unknown,
    });
  });
});
