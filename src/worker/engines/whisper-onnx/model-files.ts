import { createHash, type Hash } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { FLOAT16, OnnxFile } from '../onnx-file.js';
import { demandMemory, type WhisperMemory } from './memory.js';
import { WEIGHT_SUFFIXES, type WeightType, type WhisperOnnxOptions } from './options.js';

type Json = Readonly<Record<string, unknown>>;

/** Everything in a model folder but the weights, found and checked. */
export interface WhisperFolder {
  readonly encoderFile: string;
  readonly decoderFile: string;
  readonly config: WhisperConfig;
  readonly generation: Json;
  readonly tokenizer: Json;
  readonly tokenizerConfig: Json;
  /** Types and short hash of weights, external ones included, and configuration. */
  readonly revision: string;
  readonly memory: WhisperMemory;
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

type FolderOptions = Pick<WhisperOnnxOptions, 'modelDir' | 'dtype' | 'maxBatch' | 'memoryMb' | 'device'>;

/** Throws an Error that says which file or field is missing, is incomplete or does not fit. */
export function readWhisperFolder(options: FolderOptions): WhisperFolder {
  const { modelDir: folder, dtype } = options;
  if (!existsSync(folder)) throw new Error(`The Whisper folder ${folder} does not exist (options.modelDir).`);
  const encoderFile = findWeights(folder, 'encoder_model', dtype.encoder);
  const decoderFile = findWeights(folder, 'decoder_model_merged', dtype.decoder);
  const weights = [encoderFile, decoderFile].flatMap(file => [file, ...externalData(file)]);
  const config = readConfig(folder);
  const generation = existsSync(join(folder, 'generation_config.json'))
    ? readJson(folder, 'generation_config.json')
    : {};
  const tokenizer = readJson(folder, 'tokenizer.json');
  const hasConfig = existsSync(join(folder, 'tokenizer_config.json'));
  const tokenizerConfig = hasConfig ? readJson(folder, 'tokenizer_config.json') : {};
  checkPreprocessor(folder, config);
  const hash = createHash('sha256').update(JSON.stringify([config, generation]));
  for (const file of weights) hashSamples(file, hash);
  const types = [...new Set([dtype.encoder, dtype.decoder])].join('+');
  const revision = `whisper ${types} ${hash.digest('hex').slice(0, 12)}`;
  const weightsBytes = weights.reduce((sum, file) => sum + statSync(file).size, 0);
  const memory = demandMemory({ config, weightsBytes, cacheBytes: cacheBytes(decoderFile) }, options);
  return { encoderFile, decoderFile, config, generation, tokenizer, tokenizerConfig, revision, memory };
}

/** The files beside an .onnx file that hold its weights, all there and as long as it needs. */
function externalData(file: string): string[] {
  using onnx = new OnnxFile(file);
  return [...onnx.externalData()].map(([location, bytes]) => {
    const path = join(dirname(file), location);
    const within = relative(dirname(file), path);
    if (within === '' || within.startsWith('..')) {
      throw new Error(`${file} names weights outside its folder: ${location}.`);
    }
    if (!existsSync(path)) throw new Error(`${path} is missing; ${basename(file)} keeps its weights there.`);
    const { size } = statSync(path);
    if (size >= bytes) return path;
    throw new Error(`${path} is incomplete: it has ${size} bytes, ${basename(file)} needs ${bytes}.`);
  });
}

/** Of one number in the decoder's cache. */
function cacheBytes(decoderFile: string): number {
  using onnx = new OnnxFile(decoderFile);
  return onnx.inputTypes().get('past_key_values.0.decoder.key') === FLOAT16 ? 2 : 4;
}

function findWeights(folder: string, part: string, dtype: WeightType): string {
  const name = `${part}${WEIGHT_SUFFIXES[dtype]}.onnx`;
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
