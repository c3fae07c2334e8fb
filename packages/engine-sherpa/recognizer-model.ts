import { type UtteranceLengths } from '@switchyard/engine-api/audio/utterance-split.js';
import { type ModelFolder } from './model-files.js';
import { readOnnxMetadata } from './onnx-file.js';
import { publishedMoonshineIn } from './published-moonshine.js';

interface ModelType {
  /** Whether its results have a time for each token. */
  readonly hasTimes: boolean;
  /** Parts of the configuration and the words in their files' names. */
  readonly parts: Readonly<Record<string, string>>;
  /** Key of this type in sherpa-onnx's `modelConfig`. */
  readonly key: string;
  readonly takesLanguage?: boolean;
}

const ENCODER_DECODER = { encoder: 'encoder', decoder: 'decoder' };
const TRANSDUCER = { ...ENCODER_DECODER, joiner: 'joiner' };
const ONE_FILE = { model: 'model' };
const MOONSHINE = {
  preprocessor: 'preprocess',
  encoder: 'encode',
  uncachedDecoder: 'uncached_decode',
  cachedDecoder: 'cached_decode',
};

/** Models that decode a whole utterance. */
const OFFLINE: Readonly<Record<string, ModelType>> = {
  whisper: {
    key: 'whisper',
    parts: ENCODER_DECODER,
    hasTimes: false,
    takesLanguage: true,
  },
  transducer: { key: 'transducer', parts: TRANSDUCER, hasTimes: true },
  moonshine: { key: 'moonshine', parts: MOONSHINE, hasTimes: false },
  'sense-voice': {
    key: 'senseVoice',
    parts: ONE_FILE,
    hasTimes: true,
    takesLanguage: true,
  },
  paraformer: { key: 'paraformer', parts: ONE_FILE, hasTimes: true },
  'zipformer-ctc': { key: 'zipformerCtc', parts: ONE_FILE, hasTimes: true },
  'nemo-ctc': { key: 'nemoCtc', parts: ONE_FILE, hasTimes: true },
  'wenet-ctc': { key: 'wenetCtc', parts: ONE_FILE, hasTimes: true },
  dolphin: { key: 'dolphin', parts: ONE_FILE, hasTimes: true },
  'fire-red-asr': { key: 'fireRedAsr', parts: ENCODER_DECODER, hasTimes: false },
};

/** Models that decode speech as it arrives. */
const ONLINE: Readonly<Record<string, ModelType>> = {
  transducer: { key: 'transducer', parts: TRANSDUCER, hasTimes: true },
  paraformer: { key: 'paraformer', parts: ENCODER_DECODER, hasTimes: true },
  'zipformer-ctc': { key: 'zipformer2Ctc', parts: ONE_FILE, hasTimes: true },
  'nemo-ctc': { key: 'nemoCtc', parts: ONE_FILE, hasTimes: true },
};

export const RECOGNIZER_TYPES = [...new Set([...Object.keys(OFFLINE), ...Object.keys(ONLINE)])];

interface RecognizerModelFields {
  /** The type of the model; '': detected from its files. */
  readonly type: string;
  readonly streaming: boolean;
  /** The language that the model is told; '': it detects it. */
  readonly language: string;
  readonly threads: number;
}

/** What the engine needs to know of a model to load it. */
interface RecognizerModel {
  readonly type: string;
  readonly hasTimes: boolean;
  readonly modelConfig: object;
  readonly stretches?: UtteranceLengths;
}

/**
 * Longer audio fails inside the model, from about 9 s on; these lengths had the fewest wrong
 * words, 3.3 % of 152 (D-48).
 */
const MOONSHINE_STRETCHES = { shortestS: 3, longestS: 6 };

/**
 * Where sherpa-onnx wants the files of a model, and what its results have. @throws Error
 * that says what is missing, and what was there.
 */
export function findRecognizerModel(
  folder: ModelFolder,
  wanted: RecognizerModelFields,
): RecognizerModel {
  const moonshine = moonshineModel(folder, wanted);
  if (moonshine) return moonshine;
  const { type, found } = typeOf(folder, wanted);
  const files = filesOf(folder, type, found);
  if (wanted.language !== '' && !found.takesLanguage && wanted.type !== '') {
    throw new Error(
      `options.language is for models of type whisper and sense-voice; this one is ${type}.`,
    );
  }
  const language = found.takesLanguage ? { language: wanted.language } : {};
  const modelConfig = {
    [found.key]: { ...files, ...language },
    tokens: folder.required('tokens.txt', folder.tokens),
    ...cpuOnly(wanted),
  };
  return { type, hasTimes: found.hasTimes, modelConfig };
}

function typeOf(folder: ModelFolder, wanted: RecognizerModelFields) {
  const types = wanted.streaming ? ONLINE : OFFLINE;
  const type = wanted.type || (detectType(folder, wanted.streaming) ?? '');
  const found = types[type];
  if (found) return { type, found };
  throw unknownType(folder, wanted, Object.keys(types));
}

/** A Moonshine model with the files that its makers publish; undefined: there is none. */
function moonshineModel(
  folder: ModelFolder,
  wanted: RecognizerModelFields,
): RecognizerModel | undefined {
  if (wanted.streaming || !['', 'moonshine'].includes(wanted.type)) return undefined;
  const { tokens, ...files } = publishedMoonshineIn(folder) ?? {};
  if (tokens === undefined) return undefined;
  const modelConfig = { moonshine: files, tokens, ...cpuOnly(wanted) };
  return { type: 'moonshine', hasTimes: false, modelConfig, stretches: MOONSHINE_STRETCHES };
}

const cpuOnly = ({ threads }: RecognizerModelFields) => ({
  numThreads: threads,
  provider: 'cpu',
  debug: 0,
});

/** Types by the names that exporters write into `model_type`. */
const BY_METADATA: readonly (readonly [RegExp, string])[] = [
  [/^whisper/i, 'whisper'],
  [/fire.?red/i, 'fire-red-asr'],
  [/sense.?voice/i, 'sense-voice'],
  [/paraformer/i, 'paraformer'],
  [/^zipformer2?_ctc/i, 'zipformer-ctc'],
  [/^EncDec(Hybrid\w*)?CTC|^EncDecHybridRNNTCTC/i, 'nemo-ctc'],
  [/wenet/i, 'wenet-ctc'],
  [/dolphin/i, 'dolphin'],
];

function detectType(folder: ModelFolder, streaming: boolean): string | undefined {
  if (folder.model('joiner')) return 'transducer';
  if (folder.model('uncached_decode')) return 'moonshine';
  const telling = folder.model('encoder') ?? folder.model('model');
  if (telling === undefined) return undefined;
  const modelType = readOnnxMetadata(telling).get('model_type') ?? '';
  const named = BY_METADATA.find(([pattern]) => pattern.test(modelType))?.[1];
  // A streaming Paraformer is the only pair of encoder and decoder that hears speech
  // as it comes.
  return named ?? (streaming && folder.model('encoder') ? 'paraformer' : undefined);
}

function filesOf(folder: ModelFolder, type: string, { parts }: ModelType): Record<string, string> {
  const files = Object.entries(parts).map(([part, word]) => {
    // `encode` is in `preprocess`-less names only; `cached_decode` is
    // in `uncached_decode`.
    const without = word === 'cached_decode' ? /uncached/ : undefined;
    return [
      part,
      folder.required(`*${word}*.onnx of a ${type} model`, folder.model(word, without)),
    ] as const;
  });
  return Object.fromEntries(files);
}

function unknownType(
  folder: ModelFolder,
  wanted: RecognizerModelFields,
  types: readonly string[],
): Error {
  const kind = wanted.streaming ? 'streaming model (options.streams above 0)' : 'model';
  const given =
    wanted.type === ''
      ? 'its type cannot be told from its files'
      : `options.type is ${wanted.type}`;
  return new Error(
    `A ${kind} is required in '${folder.path}', but ${given}. ` +
      `Set options.type to one of ${types.join(', ')}. There: ${folder.listing}.`,
  );
}
