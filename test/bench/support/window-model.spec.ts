import { describe, expect, it } from '@jest/globals';
import { predictWindow, type ModelArrivals, type WindowModelOptions } from './window-model.js';

const closed = (callers: number): ModelArrivals => ({ kind: 'closed', callers });
const poisson = (ratePerS: number): ModelArrivals => ({ kind: 'poisson', ratePerS });
const predict = (policy: WindowModelOptions['policy'], arrivals: ModelArrivals, prepMs = 0) =>
  predictWindow({ policy, arrivals, prepMs, groupCostMs: () => 20 });

describe('window model, 20 ms per group of up to 8', () => {
  it('fills the device at 16 closed-loop callers under every policy', () => {
    for (const policy of ['adaptive', 'window', 'none'] as const) {
      expect(predict(policy, closed(16)).requestsPerS).toBeGreaterThan(398);
    }
  });

  it('gives 335 of 400 req/s at 8 callers where greedy sending gives 200', () => {
    expect(predict('adaptive', closed(8)).requestsPerS).toBeCloseTo(335, -1);
    expect(predict('none', closed(8)).requestsPerS).toBeCloseTo(200, -1);
  });

  it('costs a lone caller the quiet gap, 50 ms under the plain timer and nothing without a window', () => {
    expect(predict('none', closed(1)).p50Ms).toBeCloseTo(21.4, 3);
    expect(predict('adaptive', closed(1)).p50Ms).toBeCloseTo(26.4, 3);
    expect(predict('window', closed(1)).p50Ms).toBeCloseTo(71.4, 3);
  });

  it('answers 99 % within 2.3 service times at half load, where the plain timer needs 3.6', () => {
    expect(predict('adaptive', poisson(200)).p99Ms).toBeLessThan(46);
    expect(predict('window', poisson(200)).p99Ms).toBeCloseTo(71.4, 1);
  });

  it('hides a preparation of 12 ms behind the device from 16 callers on', () => {
    expect(predict('adaptive', closed(16), 12).requestsPerS).toBeGreaterThan(390);
    expect(predict('adaptive', closed(8), 12).requestsPerS).toBeLessThan(240);
  });
});
