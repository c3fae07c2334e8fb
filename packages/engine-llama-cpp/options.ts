import { availableParallelism } from 'node:os';
import {
  type EngineModel,
  EngineOptions,
} from '@switchyard/engine-api/engine-options.js';
import { type LlamaDevice, type Pooling, POOLINGS } from './protocol.js';

export interface LlamaEmbeddingOptions extends Omit<
  LlamaOptions,
  'rows' | 'kvTokens' | 'stepTokens' | 'contextTokens'
> {
  /** Tokens of one native run; no text may be longer. */
  readonly batchTokens: number;
  /** Texts in one native run. */
  readonly batchTexts: number;
  /** Requests in one engine call. */
  readonly maxBatch: number;
  readonly pooling: Pooling;
  /** `dimensions` may be asked for: the model was trained for it (Matryoshka). */
  readonly shortenable: boolean;
}

/** Of a model of kind embedding. Throws EngineOptionsError. */
export function readLlamaEmbeddingOptions(spec: EngineModel): LlamaEmbeddingOptions {
  const options = new EngineOptions(spec);
  const read: LlamaEmbeddingOptions = {
    ...readShared(options),
    batchTokens: options.integer('batchTokens', { min: 16, max: 65_536, fallback: 2048 }),
    batchTexts: options.integer('batchTexts', { min: 1, max: 256, fallback: 32 }),
    maxBatch: options.integer('maxBatch', { min: 1, max: 256, fallback: 16 }),
    pooling: options.choice('pooling', POOLINGS, 'model'),
    shortenable: options.flag('shortenable'),
  };
  options.done();
  return read;
}

export interface LlamaOptions {
  /** A GGUF file. */
  readonly modelFile: string;
  readonly device: LlamaDevice;
  /** Which CUDA device; absent: all that the driver shows. */
  readonly deviceIndex?: number;
  /** Layers on the GPU; absent: as many as fit. */
  readonly gpuLayers?: number;
  /** Tokens of one sequence: prompt and answer. */
  readonly contextTokens: number;
  /** Sequences that run at the same time. */
  readonly rows: number;
  /**
   * Tokens of KV memory, which all sequences share: `contextTokens` to `rows` times
   * `contextTokens`. Absent: the latter, divided equally.
   */
  readonly kvTokens?: number;
  /** Most tokens of one native decode. */
  readonly stepTokens: number;
  /**
   * Milliseconds that a step may take while a caller waits for the next token; chunks of
   * prompts are cut to fit. Absent: 50.
   */
  readonly stepTargetMs?: number;
  /**
   * Attention and its memory in 32 bits: what differs with who else is in a run differs
   * in the seventh digit, not in the fourth, so a draw does practically never. Takes
   * twice the memory, and is slower.
   */
  readonly exact?: boolean;
  readonly threads: number;
  /**
   * A step may take so long, and 250 ms for each of its tokens, before the process is
   * taken as hung.
   */
  readonly stepTimeoutMs: number;
  readonly loadTimeoutMs: number;
}

/**
 * Threads of a native run wait for each other by spinning: one too many on a busy machine
 * costs more than it brings.
 */
const halfOfTheCores = (): number =>
  Math.max(1, Math.min(16, Math.floor(availableParallelism() / 2)));

/** Tokens up to which a draw takes less time than waking a thread for it. */
const SMALL_VOCABULARY = 4096;

/**
 * Threads of the child for draws, besides those of native runs: they never work at the
 * same time. With one, draws stand in line behind the native run.
 * @param vocabulary tokens; undefined: not known
 */
export const drawThreads = (
  { threads }: Pick<LlamaOptions, 'threads'>,
  vocabulary: number | undefined,
): number =>
  vocabulary !== undefined && vocabulary <= SMALL_VOCABULARY
    ? 1
    : Math.min(16, Math.max(4, threads));

const DEVICES = /^(auto|cpu|cuda(:\d{1,2})?|vulkan)$/;

/** Of a model of kind llm. Throws EngineOptionsError. */
export function readLlamaOptions(spec: EngineModel): LlamaOptions {
  const options = new EngineOptions(spec);
  const read = readShared(options);
  const rows = options.integer('rows', { min: 1, max: 256, fallback: 8 });
  const stepTokens = options.integer('stepTokens', { min: 16, max: 8192, fallback: 512 });
  if (stepTokens < rows)
    options.reject('stepTokens', stepTokens, `at least \`rows\` (${rows})`);
  const contextTokens = options.integer('contextTokens', {
    min: 64,
    max: 1_048_576,
    fallback: 4096,
  });
  const kvTokens = readKvTokens(options, rows, contextTokens);
  const stepTargetMs = options.number('stepTargetMs', {
    min: 1,
    max: 3_600_000,
    fallback: 50,
  });
  const exact = options.flag('exact');
  options.done();
  const optional = {
    ...(kvTokens !== undefined && { kvTokens }),
    ...(exact && { exact }),
  };
  return { ...read, rows, stepTokens, contextTokens, stepTargetMs, ...optional };
}

function readKvTokens(
  options: EngineOptions,
  rows: number,
  contextTokens: number,
): number | undefined {
  const tokens = options.raw('kvTokens');
  if (tokens === undefined) return undefined;
  const most = rows * contextTokens;
  if (
    Number.isInteger(tokens) &&
    Number(tokens) >= contextTokens &&
    Number(tokens) <= most
  )
    return Number(tokens);
  options.reject(
    'kvTokens',
    tokens,
    `a whole number from \`contextTokens\` (${contextTokens}) to ${most}`,
  );
  return undefined;
}

/** What a language model and an embedding model have in common. */
export function readShared(
  options: EngineOptions,
): Omit<
  LlamaOptions,
  'rows' | 'kvTokens' | 'stepTokens' | 'contextTokens' | 'exact' | 'stepTargetMs'
> {
  const modelFile = options.text('modelFile', '');
  const device = readDevice(options);
  const layers = options.raw('gpuLayers');
  if (
    layers !== undefined &&
    !(Number.isInteger(layers) && Number(layers) >= 0 && Number(layers) <= 1000)
  )
    options.reject('gpuLayers', layers, 'a whole number from 0 to 1000');
  return {
    modelFile,
    ...device,
    ...(typeof layers === 'number' && { gpuLayers: layers }),
    threads: options.integer('threads', { min: 1, max: 256, fallback: halfOfTheCores() }),
    stepTimeoutMs: options.integer('stepTimeoutMs', {
      min: 100,
      max: 3_600_000,
      fallback: 30_000,
    }),
    loadTimeoutMs: options.integer('loadTimeoutMs', {
      min: 1000,
      max: 3_600_000,
      fallback: 600_000,
    }),
  };
}

function readDevice(
  options: EngineOptions,
): Pick<LlamaOptions, 'device' | 'deviceIndex'> {
  const value = options.raw('device') ?? 'auto';
  if (typeof value !== 'string' || !DEVICES.test(value)) {
    options.reject('device', value, 'auto, cpu, cuda, cuda:0, cuda:1, ..., vulkan');
    return { device: 'auto' };
  }
  const [device, index] = value.split(':') as [LlamaDevice, string | undefined];
  return { device, ...(index !== undefined && { deviceIndex: Number(index) }) };
}
