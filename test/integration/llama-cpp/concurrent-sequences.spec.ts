import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LlamaBackend } from '../../../src/worker/engines/llama-cpp/llama-backend.js';
import { type Sampling, type TextSequence } from '../../../src/worker/generation/text-backend.port.js';
import { GREEDY, llamaBackend, LlamaYard, soloTokens, textSequence } from '../../support/llama-yard.js';

const SAMPLINGS: readonly Sampling[] = [
  GREEDY,
  { ...GREEDY, temperature: 1, seed: 7 },
  { ...GREEDY, temperature: 0.8, topP: 0.9, topK: 40, minP: 0.01, seed: 4_000_000_000 },
  { ...GREEDY, temperature: 1, seed: 3, frequencyPenalty: 0.7, presencePenalty: 0.4, repeatPenalty: 1.2 },
  { ...GREEDY, temperature: 1, seed: 11, grammar: { type: 'gbnf', text: 'root ::= [a-z ]{12,40}' } },
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
        const own = await backend.encode({ type: 'text', text: `Number ${index}: ${'go on '.repeat(index % 7)}` });
        return textSequence(index % 3 === 0 ? [...opening, ...own] : own, {
          ...{ tenant: `t${index % 3}`, priorityClass: index % 2, maxTokens: 8 + (index % 5) * 6 },
          sampling: SAMPLINGS[index % SAMPLINGS.length]!,
        });
      }),
    );
    solos = await soloTokens(backend, sequences);
  });
  afterAll(() => backend.close());

  it('each say what they say alone, joining and leaving at any step, with rows taken from some', async () => {
    const before = backend.decodeCalls;
    const yard = new LlamaYard(backend);
    const late = sequences.slice(12);
    yard.submit(...sequences.slice(0, 12));
    await yard.drain(step => {
      if (step % 3 === 0) yard.submit(...late.splice(0, 1));
    });
    expect(sequences.map(sequence => yard.tokensOf(sequence))).toEqual(solos);
    expect(yard.preemptions).toBeGreaterThan(0);
    expect(backend.decodeCalls - before).toBe(yard.steps);
    expect(yard.stepsAhead).toBeGreaterThan(0);
  });

  it('each say what they say alone up to where some of them are cancelled', async () => {
    const yard = new LlamaYard(backend);
    yard.submit(...sequences);
    const cancelled = sequences.filter((_, index) => index % 4 === 1);
    await yard.drain(step => {
      const next = cancelled[step / 5];
      if (next) yard.scheduler.cancel(next);
    });
    sequences.forEach((sequence, index) => {
      const said = yard.tokensOf(sequence);
      expect(said).toEqual(solos[index]!.slice(0, said.length));
      if (yard.played.get(sequence)!.end?.type === 'finished') expect(said).toEqual(solos[index]);
    });
    expect([...yard.played.values()].filter(({ end }) => end?.type === 'cancelled').length).toBeGreaterThan(0);
  });

  it('each say what they say alone although the process is killed twice while they speak', async () => {
    const yard = new LlamaYard(backend);
    yard.submit(...sequences);
    await yard.drain(step => {
      if (step === 4 || step === 30) process.kill(backend.pid!, 'SIGKILL');
    });
    expect(sequences.map(sequence => yard.tokensOf(sequence))).toEqual(solos);
  });
});
