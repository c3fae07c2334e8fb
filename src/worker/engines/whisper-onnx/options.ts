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

/** Which weights each half of the model has. */
export interface WeightTypes {
  readonly encoder: WeightType;
  readonly decoder: WeightType;
}

export interface WhisperOnnxOptions {
  /** Folder of the public ONNX layout (README of the engines, "whisper-onnx"). */
  readonly modelDir: string;
  /** "cpu" or "cuda:N". */
  readonly device: string;
  readonly dtype: WeightTypes;
  /** Windows in one encoder call and rows in one decoder call. */
  readonly maxBatch: number;
  /** Engine calls at the same time: windows of the second join as rows of the first become free. */
  readonly maxConcurrent: number;
  /** Threads of one ONNX Runtime operator. */
  readonly threads: number;
  /** Megabytes that weights and caches may take; 0 = the memory of this machine on the CPU, unlimited elsewhere. */
  readonly memoryMb: number;
  /** Threads that compute log-mel features. */
  readonly melThreads: number;
  /**
   * Whether the prompt of a window holds the text before it, as in OpenAI's reference. Acts within audio of up to 60 s:
   * longer files are cut into windows that are decoded side by side.
   */
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
    dtype: weightTypes(options),
    maxBatch: options.integer('maxBatch', { min: 1, max: 64, fallback: 8 }),
    maxConcurrent: options.integer('maxConcurrent', { min: 1, max: 16, fallback: 2 }),
    threads: options.integer('threads', { min: 1, max: 64, fallback: 2 }),
    memoryMb: options.integer('memoryMb', { min: 0, max: 10_000_000, fallback: 0 }),
    melThreads: options.integer('melThreads', { min: 1, max: 16, fallback: 1 }),
    conditionOnPreviousText: flag(options, 'conditionOnPreviousText', true),
  };
  options.done();
  return { ...read, device: read.device === 'cuda' ? 'cuda:0' : read.device };
}

/** One type for both halves, or one for each. */
function weightTypes(options: EngineOptions): WeightTypes {
  const value = options.raw('dtype') ?? 'fp32';
  const halves: Partial<Record<keyof WeightTypes, unknown>> = typeof value === 'object' ? value : {};
  const { encoder = value, decoder = value, ...others } = halves;
  if (isWeightType(encoder) && isWeightType(decoder) && Object.keys(others).length === 0) return { encoder, decoder };
  const names = Object.keys(WEIGHT_SUFFIXES).join(', ');
  options.reject('dtype', value, `${names}; or one for each half, as { encoder: fp16, decoder: q4 }`);
  return { encoder: 'fp32', decoder: 'fp32' };
}

const isWeightType = (value: unknown): value is WeightType =>
  typeof value === 'string' && Object.hasOwn(WEIGHT_SUFFIXES, value);

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
