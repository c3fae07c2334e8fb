import { describe, expect, it } from '@jest/globals';
import { type GenerationPlan, type StepItem } from '../../core/iteration/generation-plan.js';
import { StepPace } from './step-pipeline.js';

const items = (...counts: readonly number[]): StepItem<object>[] =>
  counts.map(count => ({ request: {}, position: 0, count, tokens: [], sample: true, blocks: [] }));
const plan = (decode: number, ...prompts: readonly number[]): GenerationPlan<object> => ({
  ...{ step: 1, ahead: false, leave: [] },
  decode: items(...Array<number>(decode).fill(1)),
  prefill: items(...prompts),
});

describe('StepPace', () => {
  it('has the next step planned at once as long as it knows nothing, or steps are short', () => {
    const pace = new StepPace();
    expect([pace.planAfterMs(plan(4)), pace.planAfterMs(plan(4, 100))]).toEqual([0, 0]);
    pace.observe(plan(4), 2);
    expect(pace.planAfterMs(plan(4))).toBe(0);
  });

  it('has it planned late in a long one: a fifth of the time and 2 ms before it should end', () => {
    const pace = new StepPace();
    pace.observe(plan(4), 20);
    expect(pace.planAfterMs(plan(5))).toBe(14);
    pace.observe(plan(4), 10);
    expect(pace.planAfterMs(plan(4))).toBe(11);
  });

  it('knows steps with prompts by their tokens, and those without by themselves', () => {
    const pace = new StepPace();
    pace.observe(plan(10, 90), 50);
    pace.observe(plan(10), 5);
    expect([pace.planAfterMs(plan(0, 40)), pace.planAfterMs(plan(10))]).toEqual([14, 2]);
  });

  it('learns nothing from a step that only frees memory', () => {
    const pace = new StepPace();
    pace.observe(plan(4), 20);
    pace.observe(plan(0), 0);
    expect(pace.planAfterMs(plan(4))).toBe(14);
  });
});
