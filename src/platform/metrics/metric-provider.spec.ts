import { afterEach, describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { register } from 'prom-client';
import { counterMetric, histogramMetric, metricProvider } from './metric-provider.js';
import { METRICS } from './registry.js';

class Lanes {
  depths: Record<string, number> = { a: 3, b: 1 };
}

const depthProvider = metricProvider('scheduler_queue_depth', {
  inject: [Lanes],
  collect: (gauge, lanes: Lanes) => {
    for (const [model, depth] of Object.entries(lanes.depths))
      gauge.set({ priority: 'batch', model }, depth);
  },
});

async function scrape(name: string): Promise<[string, number][]> {
  const metric = await register.getSingleMetric(name)?.get();
  return metric?.values.map(({ labels, value }) => [String(labels.model), value]) ?? [];
}

describe('metricProvider', () => {
  afterEach(() => register.clear());

  it('reads a gauge from its source at every scrape and forgets what is gone', async () => {
    const module = await Test.createTestingModule({ providers: [Lanes, depthProvider] }).compile();
    expect(await scrape('scheduler_queue_depth')).toEqual([
      ['a', 3],
      ['b', 1],
    ]);
    module.get(Lanes).depths = { b: 2 };
    expect(await scrape('scheduler_queue_depth')).toEqual([['b', 2]]);
  });

  it('reads the services of the newest application, not of a closed one', async () => {
    await Test.createTestingModule({ providers: [Lanes, depthProvider] }).compile();
    const second = await Test.createTestingModule({ providers: [Lanes, depthProvider] }).compile();
    second.get(Lanes).depths = { c: 9 };
    expect(await scrape('scheduler_queue_depth')).toEqual([['c', 9]]);
  });

  it('has no value of a source that does not answer; the scrape continues', async () => {
    const away = { inject: [], collect: () => Promise.reject(new Error('the database is away')) };
    await Test.createTestingModule({
      providers: [metricProvider('batch_jobs', away), Lanes, depthProvider],
    }).compile();
    expect(await register.metrics()).toContain('scheduler_queue_depth{');
    expect(await scrape('batch_jobs')).toEqual([]);
  });

  it('makes counters and histograms with the labels and buckets of the table', async () => {
    const requests = counterMetric('scheduler_requests_total');
    histogramMetric('scheduler_batch_size');
    requests.inc({ status: 'completed', priority: 'batch', model: 'm' });
    expect(() => requests.inc({ nothing: 'x' })).toThrow();
    expect(await register.getSingleMetricAsString('scheduler_batch_size')).toContain(
      '# TYPE scheduler_batch_size histogram',
    );
  });

  it('refuses a gauge without a reader and a counter with one', () => {
    expect(() => counterMetric('scheduler_queue_depth')).toThrow('gauges, and only gauges');
    expect(() =>
      metricProvider('scheduler_requests_total', { inject: [], collect: () => undefined }),
    ).toThrow();
  });
});

describe('METRICS', () => {
  it('holds the seven scheduler and four TTS metrics of the design by name', () => {
    const names = Object.keys(METRICS);
    expect(names.filter(name => name.startsWith('scheduler_'))).toHaveLength(7);
    expect(names.filter(name => name.startsWith('tts_'))).toHaveLength(4);
  });

  it('can see waits longer than the default limits', () => {
    expect(Math.max(...METRICS.scheduler_queue_wait_seconds.buckets)).toBeGreaterThan(120);
  });
});
