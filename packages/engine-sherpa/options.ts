import {
  type EngineModel,
  EngineOptions,
} from '@switchyard/engine-api/engine-options.js';
import { type Precision } from './model-files.js';
import { RECOGNIZER_TYPES } from './recognizer-model.js';
import { SPEECH_TYPES } from './synthesizer-model.js';
import { type DiarizationOptions } from './diarizer.js';

interface CommonOptions {
  /** Folder with the files of one model, as sherpa-onnx publishes them. */
  readonly modelDir: string;
  /** Kind of model; '': told from the files. */
  readonly type: string;
  /** Which files to take where a folder has both. */
  readonly precision: Precision;
  /** CPU threads of one decode. */
  readonly threads: number;
}

export interface SherpaRecognizerOptions extends CommonOptions {
  /** Files decoded side by side, also the largest group. */
  readonly maxBatch: number;
  /** Live streams at the same time; above 0 the folder has a streaming model. */
  readonly streams: number;
  /** What a multilingual model is told to hear; '': it finds out. */
  readonly language: string;
  /** Absent: the model does not tell speakers apart. */
  readonly diarization: DiarizationOptions | undefined;
  /** BCP-47 tags of the entry. */
  readonly languages: readonly string[];
}

export interface SherpaSpeechOptions extends CommonOptions {
  /** Voice ids in the order of the model's speakers; empty: "0", "1", ... */
  readonly speakers: readonly string[];
  readonly language: string;
}

const CPU_ONLY =
  'cpu (the npm build of sherpa-onnx has no CUDA and runs on the CPU whatever it is asked for)';

/**
 * libuv has four threads; with three in decodes, files and names can still be looked up.
 */
const MOST_DECODES = 3;

export function readSherpaOptions(spec: EngineModel): SherpaRecognizerOptions {
  const options = new EngineOptions(spec);
  const read: SherpaRecognizerOptions = {
    ...readCommon(options, RECOGNIZER_TYPES),
    maxBatch: options.integer('maxBatch', { min: 1, max: MOST_DECODES, fallback: 1 }),
    streams: options.integer('streams', { min: 0, max: 256, fallback: 0 }),
    language: optionalText(options, 'language'),
    diarization: readDiarization(options),
    languages: spec.languages,
  };
  options.done();
  return read;
}

export function readSherpaSpeechOptions(spec: EngineModel): SherpaSpeechOptions {
  const options = new EngineOptions(spec);
  const read: SherpaSpeechOptions = {
    ...readCommon(options, SPEECH_TYPES),
    speakers: readSpeakers(options),
    language: spec.languages.length === 1 ? (spec.languages[0] ?? '') : '',
  };
  options.done();
  return read;
}

/** Undefined without models. Wrong values are rejected by `options`. */
export function readDiarization(options: EngineOptions): DiarizationOptions | undefined {
  const read: DiarizationOptions = {
    segmentationModel: optionalText(options, 'segmentationModel'),
    embeddingModel: optionalText(options, 'embeddingModel'),
    clusterThreshold: options.number('clusterThreshold', {
      min: 0,
      max: 1,
      fallback: 0.5,
    }),
    knownThreshold: options.number('knownThreshold', { min: 0, max: 1, fallback: 0.5 }),
  };
  if (read.segmentationModel !== '' && read.embeddingModel !== '') return read;
  if (read.segmentationModel !== '')
    options.reject(
      'embeddingModel',
      '',
      'the path of an .onnx file, beside segmentationModel',
    );
  if (read.embeddingModel !== '')
    options.reject(
      'segmentationModel',
      '',
      'the path of an .onnx file, beside embeddingModel',
    );
  return undefined;
}

function readCommon(options: EngineOptions, types: readonly string[]): CommonOptions {
  const type = optionalText(options, 'type');
  if (type !== '' && !types.includes(type))
    options.reject('type', type, types.join(', '));
  // `device` comes from the replica's entry; `provider` is what sherpa-onnx's own
  // documents call it.
  for (const name of ['device', 'provider']) {
    const wanted = options.raw(name) ?? 'cpu';
    if (wanted !== 'cpu') options.reject(name, wanted, CPU_ONLY);
  }
  return {
    modelDir: readModelDir(options),
    type,
    precision: options.choice('precision', ['int8', 'float32'], 'int8'),
    threads: options.integer('threads', { min: 1, max: 64, fallback: 1 }),
  };
}

function readModelDir(options: EngineOptions): string {
  const value = options.raw('modelDir');
  if (typeof value === 'string' && value !== '') return value;
  options.reject(
    'modelDir',
    value ?? null,
    'the path of a folder with one sherpa-onnx model',
  );
  return '';
}

function optionalText(options: EngineOptions, name: string): string {
  const value = options.raw(name) ?? '';
  if (typeof value === 'string') return value;
  options.reject(name, value, 'a text');
  return '';
}

function readSpeakers(options: EngineOptions): readonly string[] {
  const value: unknown = options.raw('speakers') ?? [];
  if (
    Array.isArray(value) &&
    value.every(item => typeof item === 'string' && item !== '')
  )
    return value as string[];
  options.reject(
    'speakers',
    value,
    "a list of voice names in the order of the model's speakers",
  );
  return [];
}
