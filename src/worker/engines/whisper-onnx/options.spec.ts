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
      ...{ modelDir: '/m', device: 'cpu', maxBatch: 8, maxConcurrent: 2, memoryMb: 0, threads: 2, melThreads: 1 },
      ...{ dtype: { encoder: 'fp32', decoder: 'fp32' }, conditionOnPreviousText: true },
    });
    expect(readWhisperOnnxOptions(spec({ modelDir: '/m', device: 'cuda' })).device).toBe('cuda:0');
  });

  it('takes weights of one type for the encoder and of another one for the decoder', () => {
    const read = (dtype: ModelSpec['options'][string]) => readWhisperOnnxOptions(spec({ modelDir: '/m', dtype })).dtype;
    expect(read('q8')).toEqual({ encoder: 'q8', decoder: 'q8' });
    expect(read({ encoder: 'fp16', decoder: 'q4' })).toEqual({ encoder: 'fp16', decoder: 'q4' });
    for (const wrong of [{ encoder: 'fp16' }, { encoder: 'fp16', decoder: 'q4', vocoder: 'q4' }, ['fp16'], 7]) {
      expect(() => read(wrong)).toThrow('or one for each half, as { encoder: fp16, decoder: q4 }');
    }
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
