import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Sampling, type TextSequence } from '@switchyard/engine-api/text-backend.port.js';
import { type LlamaBackend } from '@switchyard/engine-llama-cpp/backend.js';
import {
  GREEDY,
  llamaBackend,
  soloTokens,
  textSequence,
  LlamaHarness,
} from '../../support/llama-harness.js';

const SAMPLINGS: readonly Sampling[] = [
  GREEDY,
  { ...GREEDY, temperature: 1, seed: 7 },
  { ...GREEDY, temperature: 0.8, topP: 0.9, topK: 40, minP: 0.01, seed: 4_000_000_000 },
  {
    ...GREEDY,
    temperature: 1,
    seed: 3,
    frequencyPenalty: 0.7,
    presencePenalty: 0.4,
    repeatPenalty: 1.2,
  },
  {
    ...GREEDY,
    temperature: 1,
    seed: 11,
    grammar: { type: 'gbnf', text: 'root ::= [a-z ]{12,40}' },
  },
];

describe('32 sequences on llama.cpp', () => {
  let backend: LlamaBackend;
  let sequences: TextSequence[];
  let solos: (readonly number[])[];

  beforeAll(async () => {
    backend = await llamaBackend({ rows: 8, stepTokens: 64 });
    const opening = await backend.encode({
      type: 'text',
      text: 'All of them begin alike, for longer than a block is. ',
    });
    sequences = await Promise.all(
      Array.from({ length: 32 }, async (_, index) => {
        const own = await backend.encode({
          type: 'text',
          text: `Number ${index}: ${'go on '.repeat(index % 7)}`,
        });
        return textSequence(index % 3 === 0 ? [...opening, ...own] : own, {
          ...{
            tenant: `t${index % 3}`,
            priorityClass: index % 2,
            maxTokens: 8 + (index % 5) * 6,
          },
          sampling: SAMPLINGS[index % SAMPLINGS.length]!,
        });
      }),
    );
    solos = await soloTokens(backend, sequences);
  });
  afterAll(() => backend.close());

  it('each say what they say alone, joining and leaving at any step, with rows taken from some', async () => {
    const before = backend.decodeCalls;
    const harness = new LlamaHarness(backend);
    const late = sequences.slice(12);
    harness.submit(...sequences.slice(0, 12));
    await harness.drain(step => {
      if (step % 3 === 0) harness.submit(...late.splice(0, 1));
    });
    expect(sequences.map(sequence => harness.tokensOf(sequence))).toEqual(solos);
    expect(harness.preemptions).toBeGreaterThan(0);
    expect(backend.decodeCalls - before).toBe(harness.steps);
    expect(harness.stepsAhead).toBeGreaterThan(0);
  });

  it('each say what they say alone up to where some of them are cancelled', async () => {
    const harness = new LlamaHarness(backend);
    harness.submit(...sequences);
    const cancelled = sequences.filter((_, index) => index % 4 === 1);
    await harness.drain(step => {
      const next = cancelled[step / 5];
      if (next) harness.scheduler.cancel(next);
    });
    sequences.forEach((sequence, index) => {
      const said = harness.tokensOf(sequence);
      expect(said).toEqual(solos[index]!.slice(0, said.length));
      if (harness.played.get(sequence)!.end?.type === 'finished')
        expect(said).toEqual(solos[index]);
    });
    expect(
      [...harness.played.values()].filter(({ end }) => end?.type === 'cancelled').length,
    ).toBeGreaterThan(0);
  });

  it('each say what they say alone although the process is killed twice while they speak', async () => {
    const harness = new LlamaHarness(backend);
    harness.submit(...sequences);
    await harness.drain(step => {
      if (step === 4 || step === 30) process.kill(backend.pid!, 'SIGKILL');
    });
    expect(sequences.map(sequence => harness.tokensOf(sequence))).toEqual(solos);
  });
});
