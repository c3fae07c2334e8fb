import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ItemOutcome } from '@switchyard/engine-api/engine.js';
import { type Embedding } from '@switchyard/engine-api/text-embedder.js';
import { LlamaEmbedder } from '@switchyard/engine-llama-cpp/embedder.js';
import { type LlamaEmbeddingOptions } from '@switchyard/engine-llama-cpp/options.js';
import { embedItem } from '../../contract/engines/engine-items.js';
import { llamaModel } from '../../support/llama-model.js';

async function embedder(changes: Partial<LlamaEmbeddingOptions> = {}): Promise<LlamaEmbedder> {
  return new LlamaEmbedder({
    ...{
      modelFile: await llamaModel({ pooling: 'mean', chatTemplate: '' }),
      device: 'cpu',
      threads: 1,
      batchThreads: 1,
    },
    ...{
      batchTokens: 128,
      batchTexts: 8,
      maxBatch: 16,
      pooling: 'model',
      shortenable: false,
    },
    ...{ stepTimeoutMs: 120_000, loadTimeoutMs: 120_000 },
    ...changes,
  });
}

const asked = (fields: object) => embedItem('', { body: Buffer.from(JSON.stringify(fields)) });

function value(outcome: ItemOutcome<Embedding> | undefined): Embedding {
  if (!outcome?.ok) throw new Error('failed', { cause: outcome });
  return outcome.value;
}

const length = (vector: Float32Array): number => Math.hypot(...vector);

describe('embeddings on llama.cpp', () => {
  let engine: LlamaEmbedder;
  beforeAll(async () => {
    engine = await embedder({ shortenable: true });
    await engine.load();
  });
  afterAll(() => engine.close());

  it('take as few native runs as hold all requests of a group, each of length 1 and in its place', async () => {
    const texts = Array.from({ length: 12 }, (_, index) => `text ${'x'.repeat(index % 5)}`);
    const before = engine.runs;
    const outcomes = await engine.embed(texts.map(text => embedItem([text, 'shared'])));
    // 24 texts, at most 8 in a run, at most 128 tokens.
    expect(engine.runs - before).toBeLessThanOrEqual(4);
    for (const [index, outcome] of outcomes.entries()) {
      const { vectors, dimensions, usage } = value(outcome);
      const [own, shared] = [vectors.subarray(0, dimensions), vectors.subarray(dimensions)];
      expect([length(own), length(shared)].map(number => number.toFixed(4))).toEqual([
        '1.0000',
        '1.0000',
      ]);
      const alone = value((await engine.embed([embedItem(texts[index]!)]))[0]);
      own.forEach((number, at) => expect(number).toBeCloseTo(alone.vectors[at]!, 2));
      expect(usage!.promptTokens).toBeGreaterThan(alone.usage!.promptTokens);
    }
  });

  it('share runs of at most 256 tokens, so that a cancel acts soon, whatever a run may have', async () => {
    const large = await embedder({ batchTokens: 1024 });
    await large.load();
    const text = Array.from({ length: 100 }, () => 300);
    await large.embed([asked({ input: Array.from({ length: 8 }, () => text) })]);
    expect(large.runs).toBe(4);
    await large.close();
  });

  it('take tokens as well as texts', async () => {
    const [one, many] = await engine.embed([
      asked({ input: [1, 300, 301] }),
      asked({
        input: [
          [1, 300, 301],
          [1, 302],
        ],
      }),
    ]);
    expect(value(many).vectors).toHaveLength(2 * value(one).dimensions);
    expect(value(one).usage!.promptTokens).toBe(3);
  });

  it('are shortened to `dimensions`, and have length 1 again', async () => {
    const [short, whole] = await engine.embed([
      asked({ input: 'x', dimensions: 16 }),
      asked({ input: 'x' }),
    ]);
    expect(value(short).vectors).toHaveLength(16);
    expect(length(value(short).vectors)).toBeCloseTo(1, 5);
    expect(value(short).vectors[0]! / value(short).vectors[1]!).toBeCloseTo(
      value(whole).vectors[0]! / value(whole).vectors[1]!,
      3,
    );
  });

  it.each([
    ['more numbers than the model makes', { input: 'x', dimensions: 65 }, 'invalid_value'],
    ['tokens of another model', { input: [1, 99_999] }, 'invalid_value'],
    ['an empty text', { input: ['x', ''] }, 'invalid_value'],
    ['a text longer than a run', { input: 'x'.repeat(200) }, 'context_length_exceeded'],
    ['nothing', { input: [] }, 'invalid_value'],
  ])('refuse %s, alone', async (_, fields, code) => {
    const [bad, good] = await engine.embed([asked(fields), asked({ input: 'x' })]);
    expect(bad).toMatchObject({ ok: false, error: { code } });
    expect(good!.ok).toBe(true);
  });

  it('go on in another process when theirs is killed, between groups and in one', async () => {
    process.kill(engine.pid!, 'SIGKILL');
    const running = engine.embed(
      Array.from({ length: 20 }, (_, index) => embedItem(`text ${index}`)),
    );
    process.kill(engine.pid!, 'SIGKILL');
    expect((await running).every(({ ok }) => ok)).toBe(true);
  });
});

describe('an embedding model', () => {
  it('of whose vectors only one length is known refuses another', async () => {
    const engine = await embedder();
    await engine.load();
    const [outcome] = await engine.embed([asked({ input: 'x', dimensions: 16 })]);
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'unsupported_parameter', param: 'dimensions' },
    });
    await engine.close();
  });

  it('that does not say how tokens become a vector is told to, and then is one', async () => {
    const modelFile = await llamaModel({ chatTemplate: '' });
    const silent = await embedder({ modelFile });
    await expect(silent.load()).rejects.toThrow('options.pooling');
    await silent.close();
    const told = await embedder({ modelFile, pooling: 'last' });
    await told.load();
    expect((await told.embed([asked({ input: 'x' })]))[0]!.ok).toBe(true);
    await told.close();
  });
});
