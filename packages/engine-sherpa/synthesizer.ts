import { splitIntoSentences } from '@switchyard/engine-api/audio/sentence-splitter.js';
import { EngineError } from '@switchyard/engine-api/coded-error.js';
import { type EngineInfo } from '@switchyard/engine-api/engine.js';
import {
  checkSpeechItem,
  nothingToSpeak,
  type SpeechSynthesizer,
  type SynthesizeItem,
} from '@switchyard/engine-api/speech-synthesizer.js';
import { EngineThread, threadEntry } from '@switchyard/engine-api/threads/engine-thread.js';
import { CancelFlags } from '@switchyard/engine-api/threads/shared-memory.js';
import { speechOutcome } from '@switchyard/engine-api/threads/speech-calls.js';
import { ModelFolder } from './model-files.js';
import { readOnnxMetadata } from './onnx-file.js';
import { type readSherpaSpeechOptions } from './options.js';
import { espeakDataFor, piperVoiceIn, prepareVoice } from './piper-voice.js';
import { type SpeechThread } from './protocol.js';
import { VoiceStop } from './voice-stop.js';

/**
 * Any speech model of sherpa-onnx, on the CPU, sentence by sentence. The model's speakers
 * are the voices.
 */
export class SherpaSynthesizer implements SpeechSynthesizer {
  readonly kind = 'tts';
  readonly #cancels = new CancelFlags();
  #thread: EngineThread<SpeechThread> | undefined;
  /** Stops a Piper voice within a sentence; other voices stop at its end. */
  #stop: VoiceStop | undefined;
  #model: SpeechThread['info'] = { sampleRate: 0, speakers: 0 };
  #revision = '';
  #speakers: readonly string[];
  #loaded: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(private readonly options: ReturnType<typeof readSherpaSpeechOptions>) {
    this.#speakers = options.speakers;
  }

  get info(): EngineInfo {
    return {
      engine: 'sherpa-onnx',
      device: 'cpu',
      revision: this.#revision,
      maxBatch: 1,
      maxConcurrent: 1,
      streams: 0,
      capabilities: ['speech', 'speed'],
      languages: this.options.language === '' ? [] : [this.options.language],
    };
  }

  /** Sample rate in Hz; known after `load()`. */
  get sampleRate(): number {
    return this.#model.sampleRate;
  }

  get voices(): SpeechSynthesizer['voices'] {
    return Array.from({ length: this.#model.speakers }, (_, i) => {
      const id = this.#speakers[i] ?? String(i);
      return { id, name: id, language: this.options.language, gender: '' };
    });
  }

  load(): Promise<void> {
    return (this.#loaded ??= this.#load());
  }

  checkFiles(): string {
    const folder = ModelFolder.open(this.options.modelDir, this.options.precision);
    if (!piperVoiceIn(folder)) return `type ${findSpeechModel(folder, this.options).type}`;
    espeakDataFor(folder);
    return 'type vits, as Piper publishes it';
  }

  sentencesOf(text: string): readonly string[] {
    return splitIntoSentences(text).filter(sentence => /[\p{L}\p{N}]/u.test(sentence));
  }

  synthesize(batch: readonly SynthesizeItem[]) {
    return Promise.all(batch.map(item => this.#outcome(item)));
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #load(): Promise<void> {
    const { modelDir, precision } = this.options;
    const folder = ModelFolder.open(modelDir, precision);
    const piper = piperVoiceIn(folder);
    if (piper && this.#speakers.length === 0) this.#speakers = piper.speakers;
    const readable = piper
      ? ModelFolder.open(await prepareVoice(folder, piper), precision)
      : folder;
    if (piper) this.#stop = await VoiceStop.beside(acousticModel(readable));
    const { type, config } = findSpeechModel(readable, this.options, this.#stop?.path);
    this.#thread = new EngineThread(
      threadEntry('./synthesizer.thread.js', import.meta.url),
      'sherpa-onnx',
      { config },
    );
    const model = await this.#thread.ready.finally(() => this.#stop?.loaded());
    const named = this.options.speakers.length;
    if (named > model.speakers) {
      throw new Error(
        `options.speakers has ${named} names; the model in '${folder.path}' has ${model.speakers} speakers.`,
      );
    }
    this.#model = model;
    this.#revision = `${type} ${await folder.revision()}`;
  }

  async #close(): Promise<void> {
    this.#cancels.raiseAll();
    this.#stop?.end();
    await this.#thread?.close();
    this.#stop?.close();
  }

  #outcome(item: SynthesizeItem) {
    return speechOutcome(item, this.sampleRate, this.#cancels, async (cancel, onNotice) => {
      const request = { ...this.#readRequest(item), cancel };
      const thread = this.#thread;
      if (!thread || this.#closed) throw new EngineError('engine_failed', 'The engine is closed.');
      const speak = () => thread.call('speak', request, { onNotice });
      const samples = await (this.#stop?.during(item.signal, speak) ?? speak());
      if (samples === 0 && !item.signal.aborted) throw nothingToSpeak('this voice');
      return samples;
    });
  }

  #readRequest(item: SynthesizeItem) {
    const voices = this.voices.map(({ id }) => id);
    checkSpeechItem(item, voices);
    const sentences = this.sentencesOf(item.text);
    if (sentences.length === 0) throw nothingToSpeak('this voice');
    return { sentences, speaker: voices.indexOf(item.voice), speed: item.speed };
  }
}

/**
 * @param file of the model, where it is not that of the folder
 * @throws Error that says what is missing, and what was there.
 */
function findSpeechModel(
  folder: ModelFolder,
  { type: wanted, threads }: { readonly type: string; readonly threads: number },
  file?: string,
) {
  const type = wanted || detectType(folder);
  const model = {
    [type]: { ...filesOf(folder, type), ...(file !== undefined && { model: file }) },
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
