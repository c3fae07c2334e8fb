import { createHash, type Hash } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { WEIGHT_SUFFIXES, type WeightType } from './options.js';

type Json = Readonly<Record<string, unknown>>;

/** Everything in a model folder but the weights, found and checked. */
export interface WhisperFolder {
  readonly encoderFile: string;
  readonly decoderFile: string;
  readonly config: WhisperConfig;
  readonly generation: Json;
  readonly tokenizer: Json;
  readonly tokenizerConfig: Json;
  /** Type and short hash of weights and configuration. */
  readonly revision: string;
}

export interface WhisperConfig {
  readonly mels: number;
  /** Mel frames of one window (10 ms each): 3000 in every public model. */
  readonly windowFrames: number;
  readonly vocabulary: number;
  readonly decoderLayers: number;
  readonly decoderHeads: number;
  readonly width: number;
  /** Longest token sequence of the decoder: 448. */
  readonly positions: number;
  readonly startToken: number;
  readonly endToken: number;
}

/** Mel frames per encoder position: the second convolution has stride 2. */
export const FRAMES_PER_POSITION = 2;
const HOP_SAMPLES = 160;
const SAMPLE_BYTES = 65_536;

/** Throws an Error that says which file or field is missing or does not fit. */
export function readWhisperFolder(folder: string, dtype: WeightType): WhisperFolder {
  if (!existsSync(folder)) throw new Error(`The Whisper folder ${folder} does not exist (options.modelDir).`);
  const suffix = WEIGHT_SUFFIXES[dtype];
  const encoderFile = findWeights(folder, `encoder_model${suffix}.onnx`, dtype);
  const decoderFile = findWeights(folder, `decoder_model_merged${suffix}.onnx`, dtype);
  const config = readConfig(folder);
  const generation = existsSync(join(folder, 'generation_config.json'))
    ? readJson(folder, 'generation_config.json')
    : {};
  const tokenizer = readJson(folder, 'tokenizer.json');
  const hasConfig = existsSync(join(folder, 'tokenizer_config.json'));
  const tokenizerConfig = hasConfig ? readJson(folder, 'tokenizer_config.json') : {};
  checkPreprocessor(folder, config);
  const hash = createHash('sha256').update(JSON.stringify([config, generation]));
  for (const file of [encoderFile, decoderFile]) hashSamples(file, hash);
  const revision = `whisper ${dtype} ${hash.digest('hex').slice(0, 12)}`;
  return { encoderFile, decoderFile, config, generation, tokenizer, tokenizerConfig, revision };
}

function findWeights(folder: string, name: string, dtype: WeightType): string {
  const found = [join(folder, 'onnx', name), join(folder, name)].find(file => existsSync(file));
  if (found !== undefined) return found;
  throw new Error(
    `${folder} has no onnx/${name} and no ${name}: ` +
      `the files of dtype ${dtype} of a public ONNX export of Whisper are needed.`,
  );
}

/**
 * Size, and 64 KiB at the beginning, the middle and the end: other weights differ there, and gigabytes need not be
 * read.
 */
function hashSamples(file: string, hash: Hash): void {
  const { size } = statSync(file);
  hash.update(String(size));
  const descriptor = openSync(file, 'r');
  for (const at of [0, Math.floor(size / 2), Math.max(0, size - SAMPLE_BYTES)]) {
    const sample = Buffer.alloc(Math.min(SAMPLE_BYTES, size - at));
    readSync(descriptor, sample, 0, sample.length, at);
    hash.update(sample);
  }
  closeSync(descriptor);
}

function readJson(folder: string, name: string): Json {
  const file = join(folder, name);
  if (!existsSync(file)) throw new Error(`${folder} has no ${name}.`);
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Json;
  } catch (error) {
    throw new Error(`${file} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

function readConfig(folder: string): WhisperConfig {
  const config = readJson(folder, 'config.json');
  if (config.model_type !== 'whisper') {
    throw new Error(
      `${join(folder, 'config.json')}: model_type is ${JSON.stringify(config.model_type)}, not "whisper".`,
    );
  }
  const integer = (name: string): number => {
    const value = config[name];
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
    throw new Error(`${join(folder, 'config.json')}: ${name} is ${JSON.stringify(value)}; a whole number is needed.`);
  };
  return {
    mels: integer('num_mel_bins'),
    windowFrames: integer('max_source_positions') * FRAMES_PER_POSITION,
    vocabulary: integer('vocab_size'),
    decoderLayers: integer('decoder_layers'),
    decoderHeads: integer('decoder_attention_heads'),
    width: integer('d_model'),
    positions: integer('max_target_positions'),
    startToken: integer('decoder_start_token_id'),
    endToken: integer('eos_token_id'),
  };
}

/** The features are computed as Whisper's are; a model that wants others is refused instead of misheard. */
function checkPreprocessor(folder: string, config: WhisperConfig): void {
  const found = readJson(folder, 'preprocessor_config.json');
  const needed: Json = {
    ...{ feature_size: config.mels, sampling_rate: 16_000, hop_length: HOP_SAMPLES, n_fft: 400 },
    nb_max_frames: config.windowFrames,
  };
  for (const [name, value] of Object.entries(needed)) {
    if (found[name] === undefined || found[name] === value) continue;
    const file = join(folder, 'preprocessor_config.json');
    throw new Error(
      `${file}: ${name} is ${JSON.stringify(found[name])}; this engine and config.json need ${String(value)}.`,
    );
  }
}
