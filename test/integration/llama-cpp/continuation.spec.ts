import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Grammar, type Sampling } from '@switchyard/engine-api/text-backend.port.js';
import { type LlamaBackend } from '@switchyard/engine-llama-cpp/backend.js';
import { GREEDY, llamaBackend, LlamaHarness, textSequence } from '../../support/llama-harness.js';

const TOKENS = 24;
const digits: Grammar = { type: 'gbnf', text: 'root ::= ("a" [0-9]+ "b" [x-z]+)+' };

let backend: LlamaBackend;
beforeAll(async () => {
  backend = await llamaBackend({ stepTokens: 16 });
});
afterAll(() => backend.close());

async function tokensOf(
  prompt: readonly number[],
  sampling: Sampling,
  begunTokens: number,
): Promise<number[]> {
  const harness = new LlamaHarness(backend);
  const sequence = textSequence(prompt, {
    maxTokens: TOKENS - begunTokens,
    sampling,
    begunTokens,
  });
  harness.submit(sequence);
  await harness.drain();
  return harness.played.get(sequence)!.tokens;
}

/**
 * A model of random weights ends some answers at once: the first prompt that has
 * a long one.
 */
async function longAnswer(
  sampling: Sampling,
): Promise<{ prompt: readonly number[]; whole: number[] }> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const prompt = await backend.encode({
      type: 'text',
      text: `prompt ${attempt} has more tokens than a step`,
    });
    const whole = await tokensOf(prompt, sampling, 0);
    if (whole.length > 8) return { prompt, whole };
  }
  throw new Error('all answers are short');
}

describe('an answer that is continued on llama.cpp', () => {
  it.each<[string, Sampling]>([
    ['greedy', GREEDY],
    ['seeded', { ...GREEDY, temperature: 1, seed: 7 }],
    ['with penalties', { ...GREEDY, repeatPenalty: 1.5, frequencyPenalty: 0.5 }],
    ['by a grammar', { ...GREEDY, temperature: 1, seed: 3, grammar: digits }],
  ])('%s has the tokens that it would have had, wherever it was cut', async (_, sampling) => {
    await backend.check(sampling);
    const { prompt, whole } = await longAnswer(sampling);
    for (const cut of [1, 7, whole.length - 1])
      expect(await tokensOf([...prompt, ...whole.slice(0, cut)], sampling, cut)).toEqual(
        whole.slice(cut),
      );
  });
});
