import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TokenBudget } from './token-budget.js';

const OPTIONS = { minTokens: 4, maxTokens: 64, targetMs: 20 };

describe('TokenBudget', () => {
  it('starts with all, and gives all while nobody decodes', () => {
    const budget = new TokenBudget(OPTIONS);
    budget.observe({ decoding: 1, tokens: 64, ms: 80 });
    expect([budget.tokens, budget.allowance(1), budget.allowance(0)]).toEqual([32, 32, 64]);
  });

  it('cuts in proportion, at most by half, and from what was run', () => {
    const budget = new TokenBudget(OPTIONS);
    budget.observe({ decoding: 1, tokens: 64, ms: 25 });
    expect(budget.tokens).toBe(51);
    budget.observe({ decoding: 1, tokens: 20, ms: 25 });
    expect(budget.tokens).toBe(16);
  });

  it('rises only when the budget was what bound the step', () => {
    const budget = new TokenBudget(OPTIONS);
    budget.observe({ decoding: 1, tokens: 64, ms: 40 });
    budget.observe({ decoding: 1, tokens: 31, ms: 5 });
    expect(budget.tokens).toBe(32);
    budget.observe({ decoding: 1, tokens: 32, ms: 5 });
    expect(budget.tokens).toBe(34);
  });

  it('learns nothing from a step in which nobody decoded', () => {
    const budget = new TokenBudget(OPTIONS);
    budget.observe({ decoding: 0, tokens: 64, ms: 900 });
    expect(budget.tokens).toBe(64);
  });

  it('refuses bounds that are no range', () => {
    expect(() => new TokenBudget({ ...OPTIONS, maxTokens: 3 })).toThrow(RangeError);
    expect(() => new TokenBudget({ ...OPTIONS, targetMs: 0 })).toThrow(RangeError);
  });

  it('stays within its bounds, and settles near the target of any device whose time grows with the tokens', () => {
    const device = fc.record({
      fixedMs: fc.integer({ min: 1, max: 10 }),
      perTokenMs: fc.double({ min: 0.1, max: 2, noNaN: true }),
    });
    fc.assert(
      fc.property(device, ({ fixedMs, perTokenMs }) => {
        const budget = new TokenBudget(OPTIONS);
        for (let step = 0; step < 100; step++) {
          const tokens = budget.allowance(1);
          expect(tokens).toBeGreaterThanOrEqual(OPTIONS.minTokens);
          expect(tokens).toBeLessThanOrEqual(OPTIONS.maxTokens);
          budget.observe({ decoding: 1, tokens, ms: fixedMs + perTokenMs * tokens });
        }
        const fitting = Math.floor((OPTIONS.targetMs - fixedMs) / perTokenMs);
        const ideal = Math.min(OPTIONS.maxTokens, Math.max(OPTIONS.minTokens, fitting));
        expect(budget.tokens).toBeLessThanOrEqual(ideal + 3);
        expect(budget.tokens).toBeGreaterThanOrEqual(ideal * 0.6 - 1);
      }),
      { numRuns: 200 },
    );
  });
});
