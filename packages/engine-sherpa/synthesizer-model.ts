import { type ModelFolder, readOnnxMetadata } from './model-files.js';

/** @throws Error that says what is missing, and what was there. */
export function findSpeechModel(
  folder: ModelFolder,
  { type: wanted, threads }: { readonly type: string; readonly threads: number },
) {
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
  const tokens = folder.required('tokens.txt', folder.tokens);
  const dataDir = folder.named('espeak-ng-data') ?? '';
  const lexicon = folder.named('lexicon.txt', 'lexicon-us-en.txt') ?? '';
  if (type === 'matcha') {
    const vocoder = folder.required(
      'the vocoder, vocos*.onnx or hifigan*.onnx,',
      vocoderIn(folder),
    );
    return { tokens, dataDir, lexicon, acousticModel: acousticModel(folder), vocoder };
  }
  if (type === 'vits') {
    const spelling = lexicon || dataDir || undefined;
    folder.required('lexicon.txt or espeak-ng-data', spelling);
    return { tokens, dataDir, lexicon, model: acousticModel(folder) };
  }
  const voices = folder.required('voices.bin', folder.named('voices.bin'));
  return {
    tokens,
    dataDir,
    ...(type === 'kokoro' && { lexicon }),
    model: acousticModel(folder),
    voices,
  };
}

const VOCODER = /vocos|hifigan/;

function vocoderIn(folder: ModelFolder): string | undefined {
  return folder.model('vocos') ?? folder.model('hifigan');
}

const acousticModel = (folder: ModelFolder): string =>
  folder.required('An .onnx file', folder.model('.onnx', VOCODER));
