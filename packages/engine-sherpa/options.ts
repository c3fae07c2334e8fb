import { z } from 'zod';
import {
  choiceOption,
  type EngineModel,
  integerOption,
  numberOption,
  optionOf,
  type OptionsOf,
  readOptions,
  type RejectOption,
  textOption,
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

/**
 * libuv has four threads; with three in decodes, files and names can still be looked up.
 */
const MOST_DECODES = 3;

const TEXT = optionOf(z.string(), 'a text', '');
const CPU_ONLY = optionOf(
  z.literal('cpu'),
  'cpu (the npm build of sherpa-onnx has no CUDA and runs on the CPU whatever it is asked for)',
  'cpu',
);

const commonRules = (types: readonly string[]) => ({
  type: optionOf(z.literal(['', ...types]), types.join(', '), ''),
  // `device` comes from the replica's entry; `provider` is what sherpa-onnx's own
  // documents call it.
  device: CPU_ONLY,
  provider: CPU_ONLY,
  modelDir: optionOf(
    z.string().min(1),
    'the path of a folder with one sherpa-onnx model',
    null,
  ),
  precision: choiceOption(['int8', 'float32'], 'int8'),
  threads: integerOption(1, 64, 1),
});

const DIARIZATION = {
  segmentationModel: TEXT,
  embeddingModel: TEXT,
  clusterThreshold: numberOption(0, 1, 0.5),
  knownThreshold: numberOption(0, 1, 0.5),
};

const RECOGNITION = {
  ...commonRules(RECOGNIZER_TYPES),
  maxBatch: integerOption(1, MOST_DECODES, 1),
  streams: integerOption(0, 256, 0),
  language: TEXT,
  ...DIARIZATION,
};

const SPEECH = {
  ...commonRules(SPEECH_TYPES),
  speakers: optionOf(
    z.array(z.string().min(1)),
    "a list of voice names in the order of the model's speakers",
    [],
  ),
};

/** @throws EngineOptionsError */
export function readSherpaOptions(model: EngineModel): SherpaRecognizerOptions {
  const read = readOptions(model, RECOGNITION, checkModels);
  return { ...read, diarization: diarizationOf(read), languages: model.languages };
}

/** @throws EngineOptionsError */
export const readSherpaSpeechOptions = (model: EngineModel): SherpaSpeechOptions => ({
  ...readOptions(model, SPEECH),
  language: model.languages.length === 1 ? model.languages[0]! : '',
});

/**
 * Of a program that is not ours. Undefined without models. @throws EngineOptionsError
 */
export function readDiarizationOptions(
  model: EngineModel,
): DiarizationOptions | undefined {
  const device = textOption('cpu');
  if (model.kind === 'stt')
    return diarizationOf(readOptions(model, { device, ...DIARIZATION }, checkModels));
  readOptions(model, { device });
  return undefined;
}

const diarizationOf = (read: DiarizationOptions): DiarizationOptions | undefined =>
  read.segmentationModel === '' ? undefined : read;

function checkModels(
  { segmentationModel, embeddingModel }: OptionsOf<typeof DIARIZATION>,
  reject: RejectOption,
): void {
  if (segmentationModel !== '' && embeddingModel === '')
    reject('embeddingModel', '', 'the path of an .onnx file, beside segmentationModel');
  if (embeddingModel !== '' && segmentationModel === '')
    reject('segmentationModel', '', 'the path of an .onnx file, beside embeddingModel');
}
