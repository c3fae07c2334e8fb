import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LlamaBackend } from '@switchyard/engine-llama-cpp/backend.js';
import {
  llamaBackend,
  soloTokens,
  textSequence,
  LlamaHarness,
} from '../../support/llama-harness.js';

describe('equal beginnings on llama.cpp', () => {
  let backend: LlamaBackend;
  let opening: readonly number[];
  beforeAll(async () => {
    backend = await llamaBackend({ rows: 2, contextTokens: 512, stepTokens: 32 });
    opening = await backend.encode({
      type: 'text',
      text: 'The same beginning, again and again. '.repeat(5),
    });
  });
  afterAll(() => backend.close());

  const ask = async (
    harness: LlamaHarness,
    end: number,
    tenant: string,
  ): Promise<readonly number[]> => {
    const sequence = textSequence([...opening, end], { tenant, maxTokens: 4 });
    harness.submit(sequence);
    await harness.drain();
    return harness.tokensOf(sequence);
  };

  it('are computed once for a tenant, and again for another', async () => {
    const harness = new LlamaHarness(backend);
    const runs = async (end: number, tenant: string): Promise<number> => {
      const before = backend.decodeCalls;
      await ask(harness, end, tenant);
      return backend.decodeCalls - before;
    };
    const prefill = Math.ceil((opening.length + 1) / 32);
    expect(await runs(300, 'a')).toBe(prefill + 3);
    expect(await runs(301, 'a')).toBe(4);
    expect(await runs(302, 'b')).toBe(prefill + 3);
  });

  it('are computed again when their slot was needed: the same text, and as many runs as the first time', async () => {
    const [solo] = await soloTokens(backend, [textSequence([...opening, 303], { maxTokens: 4 })]);
    const harness = new LlamaHarness(backend);
    await ask(harness, 300, 'c');
    // Two others take both slots.
    const others = ['d', 'e'].map(tenant => textSequence([1, 290, 291], { tenant, maxTokens: 4 }));
    harness.submit(...others);
    await harness.drain();
    const before = backend.decodeCalls;
    expect(await ask(harness, 303, 'c')).toEqual(solo);
    expect(backend.decodeCalls - before).toBe(Math.ceil((opening.length + 1) / 32) + 3);
    expect(backend.memory.kept).toBeGreaterThan(opening.length);
  });

  it('refuse to go beyond the context, and shift nothing', async () => {
    const long = textSequence(
      Array.from({ length: 500 }, () => 300),
      { maxTokens: 12 },
    );
    const harness = new LlamaHarness(backend);
    harness.submit(long);
    await harness.drain();
    expect(harness.tokensOf(long)).toHaveLength(12);
    const beyond = {
      request: long,
      position: 500,
      count: 13,
      tokens: Array.from({ length: 13 }, () => 300),
      sample: true,
      blocks: [],
    };
    const outcome = await backend.run({
      step: 1,
      ahead: false,
      leave: [],
      decode: [],
      prefill: [beyond],
    });
    expect(outcome.type === 'done' && outcome.results.get(long)).toMatchObject({
      type: 'failed',
    });
  });
});
