import { describe, expect, it } from '@jest/globals';
import { CostModel } from './cost-model.js';

describe('CostModel', () => {
  it('counts a unit as a millisecond before anything is known', () => {
    const costs = new CostModel();
    expect(costs.estimateMs({ input: 12 })).toBe(12);
    expect(costs.estimateMs({})).toBe(1);
  });

  it('learns the time of a unit, and gives a request of unknown size the usual time', () => {
    const costs = new CostModel();
    for (let index = 0; index < 20; index += 1) costs.observe({ input: 10 }, 500);
    expect(costs.estimateMs({ input: 3 })).toBeCloseTo(150);
    expect(costs.estimateMs({})).toBeCloseTo(500);
  });

  it('follows a device that has become slower: after 200 requests the old time counts less than 2 %', () => {
    const costs = new CostModel();
    for (let index = 0; index < 500; index += 1) costs.observe({ input: 1 }, 100);
    for (let index = 0; index < 200; index += 1) costs.observe({ input: 1 }, 200);
    expect(costs.estimateMs({ input: 1 })).toBeGreaterThan(198);
  });

  it('expects as many generated tokens as usual, and no more than are allowed', () => {
    const costs = new CostModel();
    for (let index = 0; index < 20; index += 1) costs.observe({ input: 0, output: 100 }, 1000);
    expect(costs.estimateMs({ input: 0, mostOutput: 4000 })).toBeCloseTo(1000);
    expect(costs.estimateMs({ input: 0, mostOutput: 10 })).toBeCloseTo(100);
    expect(costs.estimateMs({ input: 100, mostOutput: 10 })).toBeCloseTo(200);
  });
});
