import { type ModelSpec } from '../../../platform/config/model-spec.js';
import { EngineOptions } from '../engine-options.js';

/** Which files of the folder are loaded: the suffixes of the public ONNX exports. */
export const WEIGHT_SUFFIXES = {
  fp32: '',
  fp16: '_fp16',
  q8: '_quantized',
  int8: '_int8',
  uint8: '_uint8',
  q4: '_q4',
  q4f16: '_q4f16',
  bnb4: '_bnb4',
} as const;

export type WeightType = keyof typeof WEIGHT_SUFFIXES;

export interface WhisperOnnxOptions {
  /** Folder of the public ONNX layout (README of the engines, "whisper-onnx"). */
  readonly modelDir: string;
  /** "cpu" or "cuda:N". */
  readonly device: string;
  readonly dtype: WeightType;
  /** Windows in one encoder call and rows in one decoder call. */
  readonly maxBatch: number;
  /** Engine calls at the same time: windows of the second join as rows of the first become free. */
  readonly maxConcurrent: number;
  /** Threads of one ONNX Runtime operator. */
  readonly threads: number;
  /** Threads that compute log-mel features. */
  readonly melThreads: number;
  /** Whether a window is told the text before it, as OpenAI's reference does. */
  readonly conditionOnPreviousText: boolean;
}

export function readWhisperOnnxOptions(spec: ModelSpec): WhisperOnnxOptions {
  const options = new EngineOptions(spec);
  const read: WhisperOnnxOptions = {
    modelDir: options.text('modelDir', ''),
    device: matching(options, 'device', {
      fallback: 'cpu',
      pattern: /^(cpu|cuda(:\d{1,2})?)$/,
      allowed: 'cpu, cuda:0, cuda:1, ...',
    }),
    dtype: matching(options, 'dtype', {
      fallback: 'fp32',
      pattern: new RegExp(`^(${Object.keys(WEIGHT_SUFFIXES).join('|')})$`),
      allowed: Object.keys(WEIGHT_SUFFIXES).join(', '),
    }) as WeightType,
    maxBatch: options.integer('maxBatch', { min: 1, max: 64, fallback: 8 }),
    maxConcurrent: options.integer('maxConcurrent', { min: 1, max: 16, fallback: 2 }),
    threads: options.integer('threads', { min: 1, max: 64, fallback: 2 }),
    melThreads: options.integer('melThreads', { min: 1, max: 16, fallback: 1 }),
    conditionOnPreviousText: flag(options, 'conditionOnPreviousText', true),
  };
  options.done();
  return { ...read, device: read.device === 'cuda' ? 'cuda:0' : read.device };
}

interface TextRule {
  readonly fallback: string;
  readonly pattern: RegExp;
  readonly allowed: string;
}

function matching(options: EngineOptions, name: string, { fallback, pattern, allowed }: TextRule): string {
  const value = options.raw(name) ?? fallback;
  if (typeof value === 'string' && pattern.test(value)) return value;
  options.reject(name, value, allowed);
  return fallback;
}

function flag(options: EngineOptions, name: string, fallback: boolean): boolean {
  const value = options.raw(name) ?? fallback;
  if (typeof value === 'boolean') return value;
  options.reject(name, value, 'true or false');
  return fallback;
}
