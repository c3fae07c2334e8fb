import { describe, expect, it } from '@jest/globals';
import { SimulatedTextBackend } from '../../../test/support/simulated-text-backend.js';
import { type GenerationPlan, type StepItem } from '../../core/iteration/generation-plan.js';
import { StepPipeline } from './step-pipeline.js';
import { type LiveSequence } from './live-sequence.js';

const sampling = { temperature: 0, topP: 1, topK: 0, minP: 0, seed: 1 };
const penalties = { frequencyPenalty: 0, presencePenalty: 0, repeatPenalty: 1 };
const sequence = {
  ...{ priorityClass: 0, arrivalMs: 0, tenant: 'a', salt: 'a', maxTokens: 64, prompt: [97, 98, 99, 256] },
  sampling: { ...sampling, ...penalties },
} as unknown as LiveSequence;
const blocks = [0, 1, 2, 3];

function plan(step: number, item: Partial<StepItem<LiveSequence>>): GenerationPlan<LiveSequence> {
  const one = { request: sequence, position: 0, count: 1, tokens: [], sample: true, blocks, ...item };
  return { step, ahead: step > 1, leave: [], decode: [one], prefill: [] };
}
const PROMPT = plan(1, { count: 4, tokens: sequence.prompt });
const NEXT = plan(2, { position: 4 });

describe('FlyingSteps', () => {
  it('lands in the order sent, the one behind with the token of the one before', async () => {
    const flying = new StepPipeline(new SimulatedTextBackend(), () => 0);
    flying.send(PROMPT);
    flying.send(NEXT);
    const first = await flying.landed();
    const second = await flying.landed();
    const tokens = [first, second].map(({ outcome }) => outcome.type === 'done' && outcome.results.get(sequence));
    expect([first.plan, second.plan]).toEqual([PROMPT, NEXT]);
    expect(tokens).toEqual([
      { type: 'token', token: 97 },
      { type: 'token', token: 98 },
    ]);
    expect(flying.size).toBe(0);
  });

  it('says when it is late in a step: at once where steps are short, else near its end, and not when it is over', async () => {
    let nowMs = 0;
    const gates: (() => void)[] = [];
    const beforeStep = (): Promise<void> => new Promise(resolve => gates.push(resolve));
    const flying = new StepPipeline(new SimulatedTextBackend({ beforeStep }), () => nowMs);
    const opened = async (): Promise<void> => {
      while (gates.length === 0) await new Promise(setImmediate);
      gates.shift()!();
    };
    flying.send(PROMPT);
    expect(await flying.untilLate()).toBe(true);
    nowMs = 60_000;
    await opened();
    await flying.landed();
    // A minute each, as far as is known: only the end of the step ends this wait.
    flying.send(plan(2, { position: 4, tokens: [97] }));
    const late = flying.untilLate();
    await opened();
    expect(await late).toBe(false);
    await flying.landed();
  });

  it('keeps what it has when the backend is gone, until it is told', async () => {
    const backend = new SimulatedTextBackend();
    const flying = new StepPipeline(backend, () => 0);
    backend.die();
    flying.send(PROMPT);
    flying.send(NEXT);
    await expect(flying.landed()).rejects.toThrow('gone');
    expect(flying.size).toBe(2);
    flying.forget();
    expect(flying.size).toBe(0);
  });
});
