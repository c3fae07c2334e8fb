import { describe, expect, it } from '@jest/globals';
import { type GenerationPlan, type StepItem } from '@switchyard/engine-api/generation-plan.js';
import { SimulatedTextBackend } from '../../../test/support/simulated-text-backend.js';
import { type LiveSequence } from './sequence-events.js';
import { stepPace, StepPipeline } from './step-pipeline.js';

const sampling = { temperature: 0, topP: 1, topK: 0, minP: 0, seed: 1 };
const penalties = { frequencyPenalty: 0, presencePenalty: 0, repeatPenalty: 1 };
const sequence = {
  priorityClass: 0,
  arrivalMs: 0,
  tenant: 'a',
  salt: 'a',
  maxTokens: 64,
  prompt: [97, 98, 99, 256],
  sampling: { ...sampling, ...penalties },
} as unknown as LiveSequence;
const blocks = [0, 1, 2, 3];

function plan(step: number, item: Partial<StepItem<LiveSequence>>): GenerationPlan<LiveSequence> {
  const one = {
    request: sequence,
    position: 0,
    count: 1,
    tokens: [],
    sample: true,
    blocks,
    ...item,
  };
  return { step, ahead: step > 1, leave: [], decode: [one], prefill: [] };
}
const PROMPT = plan(1, { count: 4, tokens: sequence.prompt });
const NEXT = plan(2, { position: 4 });

describe('StepPipeline', () => {
  it('gives the step sent behind another one the token that the first one draws', async () => {
    const pipeline = new StepPipeline(new SimulatedTextBackend(), () => 0);
    pipeline.send(PROMPT);
    pipeline.send(NEXT);
    const outcomes = await Promise.all(
      [PROMPT, NEXT].map(one => pipeline.outcome({ plan: one, sinceMs: 0 })),
    );
    expect(
      outcomes.map(outcome => outcome.type === 'done' && outcome.results.get(sequence)),
    ).toEqual([
      { type: 'token', token: 97 },
      { type: 'token', token: 98 },
    ]);
  });

  it('resolves late in a step: at once if steps are short, else near its end, with false once it is over', async () => {
    let nowMs = 0;
    const gates: (() => void)[] = [];
    const beforeStep = (): Promise<void> => new Promise(resolve => gates.push(resolve));
    const pipeline = new StepPipeline(new SimulatedTextBackend({ beforeStep }), () => nowMs);
    const opened = async (): Promise<void> => {
      while (gates.length === 0) await new Promise(setImmediate);
      gates.shift()!();
    };
    pipeline.send(PROMPT);
    expect(await pipeline.untilLate({ plan: PROMPT, sinceMs: 0 })).toBe(true);
    nowMs = 60_000;
    await opened();
    await pipeline.outcome({ plan: PROMPT, sinceMs: 0 });
    // A minute each, as far as is known: only the end of the step ends this wait.
    const next = { plan: plan(2, { position: 4, tokens: [97] }), sinceMs: nowMs };
    pipeline.send(next.plan);
    const late = pipeline.untilLate(next);
    await opened();
    expect(await late).toBe(false);
    expect(await pipeline.outcome(next)).toMatchObject({ type: 'done' });
  });

  it('rejects the steps of a dead backend, without an unhandled rejection for one that nobody awaits', async () => {
    const backend = new SimulatedTextBackend();
    const pipeline = new StepPipeline(backend, () => 0);
    backend.die();
    pipeline.send(PROMPT);
    pipeline.send(NEXT);
    await expect(pipeline.outcome({ plan: PROMPT, sinceMs: 0 })).rejects.toThrow('gone');
  });
});

const items = (...counts: readonly number[]): StepItem<object>[] =>
  counts.map(count => ({
    request: {},
    position: 0,
    count,
    tokens: [],
    sample: true,
    blocks: [],
  }));
const stepOf = (decode: number, ...prompts: readonly number[]): GenerationPlan<object> => ({
  step: 1,
  ahead: false,
  leave: [],
  decode: items(...Array<number>(decode).fill(1)),
  prefill: items(...prompts),
});

describe('StepPace', () => {
  it('has the next step planned at once as long as it knows nothing, or steps are short', () => {
    const pace = stepPace();
    expect([pace.planAfterMs(stepOf(4)), pace.planAfterMs(stepOf(4, 100))]).toEqual([0, 0]);
    pace.observe(stepOf(4), 2);
    expect(pace.planAfterMs(stepOf(4))).toBe(0);
  });

  it('has it planned late in a long one: a fifth of the time and 2 ms before it should end', () => {
    const pace = stepPace();
    pace.observe(stepOf(4), 20);
    expect(pace.planAfterMs(stepOf(5))).toBe(14);
    pace.observe(stepOf(4), 10);
    expect(pace.planAfterMs(stepOf(4))).toBe(11);
  });

  it('knows steps with prompts by their tokens, and those without by themselves', () => {
    const pace = stepPace();
    pace.observe(stepOf(10, 90), 50);
    pace.observe(stepOf(10), 5);
    expect([pace.planAfterMs(stepOf(0, 40)), pace.planAfterMs(stepOf(10))]).toEqual([14, 2]);
  });

  it('learns nothing from a step that only frees memory', () => {
    const pace = stepPace();
    pace.observe(stepOf(4), 20);
    pace.observe(stepOf(0), 0);
    expect(pace.planAfterMs(stepOf(4))).toBe(14);
  });
});
