import { beforeEach, describe, expect, it } from '@jest/globals';
import { AnswerTimes } from './answer-times.js';

const of = (costMs: number) => ({ costMs });
const took = (computeMs: number, costMs = 10, readyMs = 0) => ({
  costMs,
  computeMs,
  readyMs,
  predictedMs: undefined,
});

describe('AnswerTimes', () => {
  let times: AnswerTimes;
  beforeEach(() => {
    times = new AnswerTimes();
  });

  it('knows nothing before the first answer, and after a minute without any', () => {
    expect(times.estimate(of(10), true, 0)).toEqual({ answerMs: 0, firstOutputMs: 0 });
    times.observe(took(100, 10, 50), 0);
    expect(times.estimate(of(10), true, 60_000).answerMs).toBe(150);
    expect(times.estimate(of(10), true, 60_001).answerMs).toBe(0);
  });

  it('grows with the cost: what every answer takes, and what each unit takes', () => {
    for (let cost = 1; cost <= 50; cost += 1) times.observe(took(100 + 3 * cost, cost), 0);
    expect(times.estimate(of(200), false, 0).answerMs).toBeCloseTo(700);
  });

  it('is proportional while all requests had one cost', () => {
    for (let count = 0; count < 5; count += 1) times.observe(took(200), 0);
    expect(times.estimate(of(30), false, 0).answerMs).toBeCloseTo(600);
  });

  it('lies above nearly all that is measured when costs are known to 30 %', () => {
    for (let count = 0; count < 300; count += 1) {
      const [cost, estimate] = [10 + (count % 5), 0.7 + 0.1 * (count % 7)];
      const predictedMs = times.predictMs(of(cost * estimate), 0);
      times.observe({ ...took(100 * cost, cost), predictedMs }, 0);
    }
    const { answerMs } = times.estimate(of(13), false, 0);
    expect(answerMs).toBeGreaterThan(1300 * 1.25);
    expect(answerMs).toBeLessThan(1300 * 1.6);
  });

  it('counts the wait for the device only for requests that find every worker busy', () => {
    times.observe(took(100, 10, 70), 0);
    expect([true, false].map(behind => times.estimate(of(10), behind, 0).answerMs)).toEqual([
      170, 100,
    ]);
    expect(times.meanMs(0)).toBe(170);
  });

  it('a first output comes as it did before, and no later than the answer', () => {
    times.observe({ ...took(100), firstOutputMs: 20 }, 0);
    expect(times.estimate(of(10), false, 0).firstOutputMs).toBe(20);
    expect(times.estimate(of(1), false, 0).firstOutputMs).toBe(10);
  });
});
