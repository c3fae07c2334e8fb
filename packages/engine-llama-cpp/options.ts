import { availableParallelism } from 'node:os';
import {
  choiceOption,
  type EngineModel,
  FLAG_OPTION,
  integerOption,
  numberOption,
  optionOf,
  type OptionsOf,
  readOptions,
  textOption,
} from '@switchyard/engine-api/engine-options.js';
import { z } from 'zod';
import { POOLINGS } from './protocol.js';

/** Options that depend on the machine. */
interface MachineOptions {
  readonly device: 'auto' | 'cpu' | 'cuda' | 'vulkan';
  /** Which CUDA device; absent: all that the driver shows. */
  readonly deviceIndex?: number;
  /**
   * Of a run of one token, which is short: threads wait for each other by spinning, so
   * one too many on a busy machine costs more than it brings.
   */
  readonly threads: number;
  /** Threads of a native run of more than one token. */
  readonly batchThreads: number;
}

function machineOptions(read: { device: string; threads?: number }): MachineOptions {
  const [device, index] = read.device.split(':') as [MachineOptions['device'], string?];
  const cores = availableParallelism();
  return {
    device,
    ...(index !== undefined && { deviceIndex: Number(index) }),
    threads: read.threads ?? Math.max(1, Math.min(16, Math.floor(cores / 2))),
    batchThreads: read.threads ?? Math.min(16, cores),
  };
}

const DEVICES = /^(auto|cpu|cuda(:\d{1,2})?|vulkan)$/;

/** Options that language models and embedding models share. */
const SHARED = {
  // A GGUF file.
  modelFile: textOption(''),
  device: optionOf(
    z.string().regex(DEVICES),
    'auto, cpu, cuda, cuda:0, cuda:1, ..., vulkan',
    'auto',
  ),
  // Layers on the GPU; absent: as many as fit.
  gpuLayers: optionOf(z.int().min(0).max(1000).optional(), 'a whole number from 0 to 1000'),
  // Absent: half of the cores for a run of one token, all of them for others.
  threads: optionOf(z.int().min(1).max(256).optional(), 'a whole number from 1 to 256'),
  // A step may take so long, and 250 ms for each of its tokens, before the process is
  // taken as hung.
  stepTimeoutMs: integerOption(100, 3_600_000, 30_000),
  loadTimeoutMs: integerOption(1000, 3_600_000, 600_000),
};

const EMBEDDING = {
  ...SHARED,
  // Tokens of one native run; no text may be longer.
  batchTokens: integerOption(16, 65_536, 2048),
  // Texts in one native run.
  batchTexts: integerOption(1, 256, 32),
  // Requests in one engine call.
  maxBatch: integerOption(1, 256, 16),
  pooling: choiceOption(POOLINGS, 'model'),
  // `dimensions` may be asked for: the model was trained for it (Matryoshka).
  shortenable: FLAG_OPTION,
};

const GENERATION = {
  ...SHARED,
  // Sequences that run at the same time.
  rows: integerOption(1, 256, 8),
  // Most tokens of one native decode.
  stepTokens: integerOption(16, 8192, 512),
  // Tokens of one sequence: prompt and answer.
  contextTokens: integerOption(64, 1_048_576, 4096),
  // Tokens of KV memory, which all sequences share: `contextTokens` to `rows` times
  // `contextTokens`. Absent: the latter, divided equally.
  kvTokens: optionOf(z.custom<number>().optional(), 'a whole number'),
  // Fields of requests that do not have them.
  sampling: optionOf(
    z
      .strictObject({
        temperature: z.number().min(0).max(2),
        top_p: z.number().min(0).max(1),
        top_k: z.int().min(0).max(1_000_000),
        min_p: z.number().min(0).max(1),
        repeat_penalty: z.number().min(0.01).max(100),
      })
      .partial(),
    'numbers by name: temperature, top_p, top_k, min_p, repeat_penalty',
    {},
  ),
  // Milliseconds that a step may take while a caller waits for the next token; chunks of
  // prompts are cut to fit.
  stepTargetMs: numberOption(1, 3_600_000, 50),
  // Attention and its memory in 32 bits: what differs with who else is in a run differs
  // in the seventh digit, not in the fourth, so a draw does practically never. Takes
  // twice the memory, and is slower.
  exact: FLAG_OPTION,
};

export type LlamaEmbeddingOptions = MachineOptions &
  Omit<OptionsOf<typeof EMBEDDING>, keyof MachineOptions>;

export type LlamaOptions = MachineOptions &
  Omit<OptionsOf<typeof GENERATION>, keyof MachineOptions>;

/** What the child process of a language model loads, on its command line. */
export type ChildSettings = LlamaOptions & {
  /**
   * Draws that are made at the same time, each a pass over the vocabulary; 1: all stand
   * in line behind the native run.
   */
  readonly drawThreads: number;
};

/** Reads the options of a model of kind embedding. @throws EngineOptionsError */
export function readLlamaEmbeddingOptions(model: EngineModel): LlamaEmbeddingOptions {
  const read = readOptions(model, EMBEDDING);
  return { ...read, ...machineOptions(read) };
}

/** Reads the options of a model of kind llm. @throws EngineOptionsError */
export function readLlamaOptions(model: EngineModel): LlamaOptions {
  const read = readOptions(model, GENERATION, (options, reject) => {
    const { rows, stepTokens, contextTokens, kvTokens } = options;
    if (stepTokens < rows) reject('stepTokens', stepTokens, `at least \`rows\` (${rows})`);
    const most = rows * contextTokens;
    const fits = z.int().min(contextTokens).max(most).optional();
    if (!fits.safeParse(kvTokens).success)
      reject(
        'kvTokens',
        kvTokens,
        `a whole number from \`contextTokens\` (${contextTokens}) to ${most}`,
      );
  });
  return { ...read, ...machineOptions(read) };
}
