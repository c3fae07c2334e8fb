import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Sampling, type TextSequence } from '@switchyard/engine-api/text-backend.port.js';
import { type LlamaBackend } from '@switchyard/engine-llama-cpp/backend.js';
import {
  GREEDY,
  llamaBackend,
  LlamaHarness,
  soloTokens,
  textSequence,
} from '../../support/llama-harness.js';

const SAMPLINGS: readonly Sampling[] = [
  GREEDY,
  { ...GREEDY, temperature: 0.8, topP: 0.9, topK: 40, minP: 0.01, seed: 4_000_000_000 },
  GREEDY,
  {
    ...GREEDY,
    temperature: 1,
    seed: 3,
    frequencyPenalty: 0.7,
    presencePenalty: 0.4,
    repeatPenalty: 1.2,
  },
  { ...GREEDY, logitBias: new Map([[70, 3]]), logprobs: 3 },
  {
    ...GREEDY,
    temperature: 1,
    seed: 11,
    grammar: { type: 'gbnf', text: 'root ::= [a-z ]{12,40}' },
  },
];
const SHAPE = { rows: 8, contextTokens: 256, stepTokens: 64 };
/** The ends of the generated model: an answer is as long as it may be. */
const NO_END = new Map([
  [2, -100],
  [4, -100],
]);
/** A quarter of what the rows could need. */
const KV_TOKENS = 512;

describe('KV memory that sequences share', () => {
  let divided: LlamaBackend;
  let shared: LlamaBackend;
  let sequences: TextSequence[];
  let solos: (readonly number[])[];

  beforeAll(async () => {
    divided = await llamaBackend(SHAPE);
    shared = await llamaBackend({ ...SHAPE, kvTokens: KV_TOKENS });
    sequences = await Promise.all(
      Array.from({ length: 32 }, async (_, index) => {
        const prompt = await divided.encode({
          type: 'text',
          text: `Number ${index}: ${'go on '.repeat(index % 7)}`,
        });
        return textSequence(prompt, {
          ...{
            tenant: `t${index % 3}`,
            priorityClass: index % 2,
            maxTokens: 20 + (index % 5) * 30,
          },
          sampling: SAMPLINGS[index % SAMPLINGS.length]!,
        });
      }),
    );
    solos = await soloTokens(divided, sequences);
  }, 120_000);
  afterAll(() => Promise.all([divided.close(), shared.close()]));

  it('gives each sequence the tokens that it gets from a memory of its own, and loses none', async () => {
    const harness = new LlamaHarness(shared);
    const late = sequences.slice(12);
    harness.submit(...sequences.slice(0, 12));
    await harness.drain(step => {
      if (step % 3 === 0) harness.submit(...late.splice(0, 1));
    });
    expect(harness.preemptions).toBeGreaterThan(0);
    expect([...harness.played.values()].map(({ end }) => end?.type)).toEqual(
      sequences.map(() => 'finished'),
    );
    expect(sequences.map(sequence => harness.tokensOf(sequence))).toEqual(solos);
  }, 120_000);

  it('tells the same probabilities', async () => {
    const probabilities = async (backend: LlamaBackend) => {
      const harness = new LlamaHarness(backend);
      const sequence = { ...sequences[4]!, salt: 'alone' };
      harness.submit(sequence);
      await harness.drain();
      return harness.played.get(sequence)!.drawn;
    };
    const [own, other] = await Promise.all([probabilities(divided), probabilities(shared)]);
    expect(other.length).toBe(own.length);
    other.forEach(({ logprob, top }, at) => {
      expect(logprob).toBeCloseTo(own[at]!.logprob!, 4);
      expect(top?.map(({ token }) => token)).toEqual(own[at]!.top?.map(({ token }) => token));
    });
  }, 60_000);

  it('lets one sequence have the whole context while it shares what is left', async () => {
    const harness = new LlamaHarness(shared);
    const prompt = await shared.encode({ type: 'text', text: 'on and '.repeat(30) });
    const sampling = { ...GREEDY, logitBias: NO_END };
    const long = textSequence(prompt, {
      maxTokens: SHAPE.contextTokens - prompt.length,
      sampling,
    });
    const short = Array.from({ length: 12 }, (_, n) =>
      textSequence(prompt.slice(0, 10 + n), { maxTokens: 10 }),
    );
    harness.submit(long, ...short);
    await harness.drain();
    expect([...harness.played.values()].map(({ end }) => end?.type)).toEqual(
      [long, ...short].map(() => 'finished'),
    );
    expect(harness.tokensOf(long).length).toBe(SHAPE.contextTokens - prompt.length);
  }, 60_000);
});

/**
 * As much as four sequences have of cells that are divided: 256 tokens each, which is
 * what llama.cpp divides by.
 */
const PARTS = { rows: 4, contextTokens: 768, stepTokens: 64, kvTokens: 1024 };

it('gives the same tokens while memory is divided, while a long sequence shares it, and divided again', async () => {
  const divided = await llamaBackend({ ...PARTS, kvTokens: undefined });
  const shared = await llamaBackend(PARTS);
  // Every beginning that another sequence has is copied.
  shared.memory.reset({ costs: { computeMs: 1, copyMs: 0 }, cutsBack: true });
  const prompt = await divided.encode({ type: 'text', text: 'go on and '.repeat(12) });
  const sampling = { ...GREEDY, logitBias: NO_END, temperature: 0.9, seed: 5 };
  const long = textSequence(prompt, { tenant: 'long', maxTokens: 400, sampling });
  const short = Array.from({ length: 14 }, (_, n) =>
    textSequence(prompt.slice(0, 66 + n), {
      tenant: `t${n >> 1}`,
      maxTokens: 120,
      sampling: { ...sampling, seed: n },
    }),
  );
  const solos = await soloTokens(divided, [long, ...short]);
  const harness = new LlamaHarness(shared);
  const [first, second, ...late] = short;
  harness.submit(first!);
  for (let step = 0; step < 8; step++) await harness.step();
  harness.submit(second!, long);
  await harness.drain();
  while (late.length > 0) {
    harness.submit(...late.splice(0, 4));
    await harness.drain();
  }
  expect([long, ...short].map(sequence => harness.tokensOf(sequence))).toEqual(solos);
  await Promise.all([divided.close(), shared.close()]);
}, 120_000);
