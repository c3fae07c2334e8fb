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
import { z } from 'zod';
import { RECOGNIZER_TYPES } from './recognizer-model.js';

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
  // Kind of model; '': told from the files.
  type: optionOf(z.literal(['', ...types]), types.join(', '), ''),
  // `device` comes from the replica's entry; `provider` is what sherpa-onnx's own
  // documents call it.
  device: CPU_ONLY,
  provider: CPU_ONLY,
  // Folder with the files of one model, as sherpa-onnx publishes them.
  modelDir: optionOf(z.string().min(1), 'the path of a folder with one sherpa-onnx model', null),
  // Which files to take where a folder has both.
  precision: choiceOption(['int8', 'float32'], 'int8'),
  // CPU threads of one decode.
  threads: integerOption(1, 64, 1),
});

const DIARIZATION = {
  // A pyannote segmentation model.
  segmentationModel: TEXT,
  // A speaker embedding model: 3D-Speaker, WeSpeaker, NeMo.
  embeddingModel: TEXT,
  // Distance of voices from which on they are two speakers: higher finds fewer.
  clusterThreshold: numberOption(0, 1, 0.5),
  // Likeness from which on a speaker is a known one.
  knownThreshold: numberOption(0, 1, 0.5),
};

type DiarizationOptions = OptionsOf<typeof DIARIZATION>;

const RECOGNITION = {
  ...commonRules(RECOGNIZER_TYPES),
  // Files decoded side by side, also the largest group.
  maxBatch: integerOption(1, MOST_DECODES, 1),
  // Live streams at the same time; above 0 the folder has a streaming model.
  streams: integerOption(0, 256, 0),
  // What a multilingual model is told to hear; '': it finds out.
  language: TEXT,
  ...DIARIZATION,
};

const SPEECH = {
  ...commonRules(['vits', 'kokoro', 'kitten', 'matcha']),
  // Voice ids in the order of the model's speakers; empty: "0", "1", ...
  speakers: optionOf(
    z.array(z.string().min(1)),
    "a list of voice names in the order of the model's speakers",
    [],
  ),
};

/**
 * @returns `diarization`: undefined if the model does not tell speakers apart;
 *   `languages`: BCP-47 tags of the entry
 * @throws EngineOptionsError
 */
export function readSherpaOptions(model: EngineModel) {
  const read = readOptions(model, RECOGNITION, checkModels);
  return { ...read, diarization: diarizationOf(read), languages: model.languages };
}

/** @throws EngineOptionsError */
export const readSherpaSpeechOptions = (model: EngineModel) => ({
  ...readOptions(model, SPEECH),
  language: model.languages.length === 1 ? model.languages[0]! : '',
});

/**
 * Options of a worker that only tells speakers apart. Undefined without speaker models.
 * @throws EngineOptionsError
 */
export function readDiarizationOptions(model: EngineModel): DiarizationOptions | undefined {
  const device = textOption('cpu');
  if (model.kind === 'stt')
    return diarizationOf(readOptions(model, { device, ...DIARIZATION }, checkModels));
  readOptions(model, { device });
  return undefined;
}

const diarizationOf = (read: DiarizationOptions): DiarizationOptions | undefined =>
  read.segmentationModel === '' ? undefined : read;

function checkModels(
  { segmentationModel, embeddingModel }: DiarizationOptions,
  reject: RejectOption,
): void {
  if (segmentationModel !== '' && embeddingModel === '')
    reject('embeddingModel', '', 'the path of an .onnx file, beside segmentationModel');
  if (embeddingModel !== '' && segmentationModel === '')
    reject('segmentationModel', '', 'the path of an .onnx file, beside embeddingModel');
}
