import { type ModelFolder, readOnnxMetadata } from './model-files.js';

export const SPEECH_TYPES = ['vits', 'kokoro', 'kitten', 'matcha'];

interface SpeechModel {
  readonly type: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** @throws Error that says what is missing, and what was there. */
export function findSpeechModel(
  folder: ModelFolder,
  { type: wanted, threads }: { readonly type: string; readonly threads: number },
): SpeechModel {
  const type = wanted || detectType(folder);
  const model = {
    [type]: filesOf(folder, type),
    numThreads: threads,
    provider: 'cpu',
    debug: 0,
  };
  return { type, config: { model, maxNumSentences: 1 } };
}

function detectType(folder: ModelFolder): string {
  if (vocoderIn(folder)) return 'matcha';
  const file = acousticModel(folder);
  const named = readOnnxMetadata(file).get('model_type') ?? '';
  if (/kitten/i.test(named)) return 'kitten';
  return folder.named('voices.bin') ? 'kokoro' : 'vits';
}

function filesOf(folder: ModelFolder, type: string): Record<string, string> {
  if (folder.tokens === undefined) throw missing(folder, 'tokens.txt');
  const shared = { tokens: folder.tokens, dataDir: folder.named('espeak-ng-data') ?? '' };
  const lexicon = folder.named('lexicon.txt', 'lexicon-us-en.txt') ?? '';
  if (type === 'matcha') {
    const vocoder = vocoderIn(folder);
    if (vocoder === undefined)
      throw missing(folder, 'the vocoder, vocos*.onnx or hifigan*.onnx,');
    return { ...shared, lexicon, acousticModel: acousticModel(folder), vocoder };
  }
  if (type === 'vits') {
    if (lexicon === '' && shared.dataDir === '')
      throw missing(folder, 'lexicon.txt or espeak-ng-data');
    return { ...shared, lexicon, model: acousticModel(folder) };
  }
  const voices = folder.named('voices.bin');
  if (voices === undefined) throw missing(folder, 'voices.bin');
  return {
    ...shared,
    ...(type === 'kokoro' ? { lexicon } : {}),
    model: acousticModel(folder),
    voices,
  };
}

const VOCODER = /vocos|hifigan/;

function vocoderIn(folder: ModelFolder): string | undefined {
  return folder.model('vocos') ?? folder.model('hifigan');
}

function acousticModel(folder: ModelFolder): string {
  const file = folder.model('.onnx', VOCODER);
  if (file === undefined) throw missing(folder, 'An .onnx file');
  return file;
}

function missing(folder: ModelFolder, what: string): Error {
  return new Error(`${what} is missing in '${folder.path}'; there: ${folder.listing}.`);
}
