import { describe, expect, it } from '@jest/globals';
import { type EngineModel } from '@switchyard/engine-api/engine-options.js';
import { readLlamaEmbeddingOptions, readLlamaOptions } from './options.js';

const spec = (options: object): EngineModel =>
  ({
    id: 'm',
    kind: 'llm',
    engine: 'llama-cpp',
    options: { modelFile: 'm.gguf', ...options },
  }) as unknown as EngineModel;

describe('options of llama-cpp', () => {
  it('name a file, and have a default for all else', () => {
    expect(readLlamaOptions(spec({}))).toMatchObject({
      device: 'auto',
      rows: 8,
      stepTokens: 512,
      contextTokens: 4096,
    });
    expect(() => readLlamaOptions(spec({ modelFile: undefined }))).toThrow('options.modelFile');
  });

  it('tell one CUDA device from all', () => {
    expect(readLlamaOptions(spec({ device: 'cuda:1' }))).toMatchObject({
      device: 'cuda',
      deviceIndex: 1,
    });
    expect(readLlamaOptions(spec({ device: 'cuda' }))).not.toHaveProperty('deviceIndex');
  });

  it('share KV memory when told to: as much as one sequence needs, and no more than all could', () => {
    expect(readLlamaOptions(spec({}))).not.toHaveProperty('kvTokens');
    expect(readLlamaOptions(spec({ kvTokens: 4096 }))).toMatchObject({ kvTokens: 4096 });
    for (const kvTokens of [4095, 8 * 4096 + 1, 5000.5, '5000'])
      expect(() => readLlamaOptions(spec({ kvTokens }))).toThrow('options.kvTokens');
  });

  it('say how tokens are drawn where a request does not', () => {
    const sampling = { temperature: 0.2, top_p: 0.9 };
    expect(readLlamaOptions(spec({ sampling }))).toMatchObject({ sampling });
    for (const wrong of [{ temperature: 3 }, { topK: 4 }, 'greedy'])
      expect(() => readLlamaOptions(spec({ sampling: wrong }))).toThrow('sampling');
  });

  it('report all mistakes together', () => {
    const wrong = { device: 'tpu', rows: 64, stepTokens: 32, gpuLayers: -1, threds: 2 };
    for (const name of ['device', 'stepTokens', 'gpuLayers', 'threds'])
      expect(() => readLlamaOptions(spec(wrong))).toThrow(`options.${name}`);
  });

  it('of an embedding model are its own', () => {
    expect(readLlamaEmbeddingOptions(spec({ pooling: 'last' }))).toMatchObject({
      pooling: 'last',
      batchTexts: 32,
    });
    expect(() => readLlamaEmbeddingOptions(spec({ rows: 2 }))).toThrow('options.rows is unknown');
    expect(() => readLlamaEmbeddingOptions(spec({ pooling: 'sum' }))).toThrow('options.pooling');
  });
});
