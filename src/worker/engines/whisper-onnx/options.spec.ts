import { describe, expect, it } from '@jest/globals';
import { type ModelSpec } from '../../../platform/config/model-spec.js';
import { EngineOptionsError } from '../engine-options.js';
import { readWhisperOnnxOptions } from './options.js';

const spec = (options: ModelSpec['options']): ModelSpec => ({
  ...{ id: 'w', kind: 'stt', engine: 'whisper-onnx', options, aliases: [], capabilities: [], languages: [] },
  ...{ replicas: 1, addresses: [], voices: {} },
});

describe('readWhisperOnnxOptions', () => {
  it('needs the folder only', () => {
    expect(readWhisperOnnxOptions(spec({ modelDir: '/m' }))).toEqual({
      ...{ modelDir: '/m', device: 'cpu', dtype: 'fp32', maxBatch: 8, maxConcurrent: 2, threads: 2, melThreads: 1 },
      conditionOnPreviousText: true,
    });
    expect(readWhisperOnnxOptions(spec({ modelDir: '/m', device: 'cuda' })).device).toBe('cuda:0');
  });

  it('names every wrong option at once', () => {
    const read = () =>
      readWhisperOnnxOptions(
        spec({ device: 'tpu', dtype: 'fp8', maxBatch: 0, conditionOnPreviousText: 'no', beam: 5 }),
      );
    expect(read).toThrow(EngineOptionsError);
    for (const name of ['modelDir', 'device', 'dtype', 'maxBatch', 'conditionOnPreviousText', 'beam']) {
      expect(read).toThrow(`options.${name}`);
    }
    expect(read).toThrow('fp32, fp16, q8, int8, uint8, q4, q4f16, bnb4');
  });
});
