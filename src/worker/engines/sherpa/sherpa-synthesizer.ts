import { DomainError } from '../../../core/shared/domain-error.js';
import {
  type EngineInfo,
  type EngineVoice,
  type ItemOutcome,
  type SpeechSynthesizer,
  type SynthesizeItem,
} from '../engine.js';
import { splitIntoSentences } from '../flite/sentence-splitter.js';
import { cancelledError, failed, succeeded } from '../item-outcome.js';
import { EngineThread } from '../threads/engine-thread.js';
import { threadEntry } from '../threads/thread-entry.js';
import { CancelFlag } from '../threads/thread-protocol.js';
import { ModelFolder } from './model-folder.js';
import { type SherpaSpeechOptions } from './sherpa-options.js';
import { type SpeakRequest, type SpeechProtocol, type SpeechThreadInfo } from './sherpa-protocol.js';
import { findSpeechModel } from './speech-model.js';

type Spoken = ItemOutcome<{ readonly durationS: number }>;

/** Any speech model of sherpa-onnx, on the CPU, sentence by sentence. The model's speakers are the voices. */
export class SherpaSynthesizer implements SpeechSynthesizer {
  readonly kind = 'tts';
  readonly #cancels = new Set<CancelFlag>();
  #thread: EngineThread<SpeechProtocol, SpeechThreadInfo> | undefined;
  #model: SpeechThreadInfo = { sampleRate: 0, speakers: 0 };
  #revision = '';
  #loaded: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(private readonly options: SherpaSpeechOptions) {}

  get info(): EngineInfo {
    return {
      ...{ engine: 'sherpa-onnx', device: 'cpu', revision: this.#revision },
      ...{ maxBatch: 1, maxConcurrent: 1, streams: 0 },
      capabilities: ['speech', 'speed'],
      languages: this.options.language === '' ? [] : [this.options.language],
    };
  }

  /** Hz; known after `load()`. */
  get sampleRate(): number {
    return this.#model.sampleRate;
  }

  get voices(): readonly EngineVoice[] {
    return Array.from({ length: this.#model.speakers }, (_, i) => {
      const id = this.options.speakers[i] ?? String(i);
      return { id, name: id, language: this.options.language, gender: '' };
    });
  }

  load(): Promise<void> {
    return (this.#loaded ??= this.#load());
  }

  synthesize(batch: readonly SynthesizeItem[]): Promise<readonly Spoken[]> {
    return Promise.all(batch.map(item => this.#outcome(item)));
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #load(): Promise<void> {
    const folder = await ModelFolder.open(this.options.modelDir, this.options.precision);
    const { type, config } = await findSpeechModel(folder, this.options);
    this.#thread = new EngineThread({
      entry: threadEntry('./speech.thread.js', import.meta.url),
      name: 'sherpa-onnx',
      data: { config },
    });
    const model = await this.#thread.ready;
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
    for (const flag of this.#cancels) flag.raise();
    await this.#thread?.close();
  }

  async #outcome(item: SynthesizeItem): Promise<Spoken> {
    try {
      const request = this.#readRequest(item);
      if (item.signal.aborted) return failed(cancelledError(item.requestId));
      const samples = await this.#speak(item, request);
      if (item.signal.aborted) return failed(cancelledError(item.requestId));
      return succeeded({ durationS: samples / this.sampleRate });
    } catch (error) {
      return failed(error);
    }
  }

  async #speak(item: SynthesizeItem, request: Omit<SpeakRequest, 'cancel'>): Promise<number> {
    const flag = new CancelFlag();
    const raise = (): void => flag.raise();
    item.signal.addEventListener('abort', raise, { once: true });
    this.#cancels.add(flag);
    let consumerProblem: Error | undefined;
    const onNotice = (samples: Int16Array): void => {
      if (flag.raised) return;
      try {
        item.emit(samples);
      } catch (error) {
        consumerProblem = error instanceof Error ? error : new Error(String(error));
        flag.raise();
      }
    };
    try {
      if (!this.#thread || this.#closed) throw new DomainError('engine_failed', 'The engine is closed.');
      const { samples } = await this.#thread.call('speak', { ...request, cancel: flag.memory }, { onNotice });
      if (consumerProblem) throw consumerProblem;
      if (flag.raised) throw cancelledError(item.requestId);
      if (samples === 0) throw nothingToSay();
      return samples;
    } finally {
      this.#cancels.delete(flag);
      item.signal.removeEventListener('abort', raise);
    }
  }

  #readRequest({ text, voice, speed }: SynthesizeItem): Omit<SpeakRequest, 'cancel'> {
    const speaker = this.voices.findIndex(({ id }) => id === voice);
    if (speaker < 0) {
      const known = this.voices.map(({ id }) => id).join(', ');
      throw new DomainError('voice_not_found', `No voice '${voice}'; voices: ${known}`, { param: 'voice' });
    }
    if (!(speed >= 0.25 && speed <= 4)) {
      throw new DomainError('invalid_value', `speed is ${speed}; allowed: 0.25 to 4`, { param: 'speed' });
    }
    const sentences = splitIntoSentences(text).filter(sentence => /[\p{L}\p{N}]/u.test(sentence));
    if (sentences.length === 0) throw nothingToSay();
    return { sentences, speaker, speed };
  }
}

function nothingToSay(): DomainError {
  return new DomainError('invalid_value', 'input has nothing that this voice can speak', { param: 'input' });
}
