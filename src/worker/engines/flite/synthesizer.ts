import { DomainError } from '../../../core/shared/domain-error.js';
import { type EngineInfo, type ItemOutcome, type SpeechSynthesizer, type SynthesizeItem } from '../engine.js';
import { cancelledError, failed, succeeded } from '../item-outcome.js';
import { EngineThread } from '../threads/engine-thread.js';
import { threadEntry } from '../threads/thread-entry.js';
import { CancelFlag } from '../threads/thread-protocol.js';
import { ThreadPool } from '../threads/thread-pool.js';
import { FLITE_SAMPLE_RATE, type FliteProtocol, type FliteThreadInfo } from './flite-protocol.js';
import { FLITE_VOICE_IDS, FLITE_VOICES, isFliteVoice } from './flite-voices.js';
import { splitIntoSentences } from './sentence-splitter.js';
import { isSpeakable, toSpeakableText } from './speakable-text.js';

/** Two threads that set the speed of the same voice would speak at each other's pace. */
let loadedInProcess = false;

type Spoken = ItemOutcome<{ readonly durationS: number }>;

/**
 * English speech on the CPU, sentence by sentence. flite's voices are static data of the process, so there is one
 * thread, and a process loads one of these.
 */
export class FliteSynthesizer implements SpeechSynthesizer {
  readonly kind = 'tts';
  readonly sampleRate = FLITE_SAMPLE_RATE;
  readonly voices = FLITE_VOICES;
  readonly #thread = new ThreadPool<FliteProtocol, FliteThreadInfo>(1, startThread);
  readonly #cancels = new Set<CancelFlag>();
  #holdsVoices = false;
  #revision = '';
  #loaded: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  get info(): EngineInfo {
    return {
      engine: 'flite',
      device: 'cpu',
      revision: this.#revision,
      maxBatch: 1,
      maxConcurrent: 1,
      streams: 0,
      capabilities: ['speech', 'speed'],
      languages: ['en'],
    };
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
    if (loadedInProcess)
      throw new Error('A process holds one flite engine at a time: its voices are static data of the library.');
    loadedInProcess = true;
    this.#holdsVoices = true;
    await this.#thread.use(async thread => {
      this.#revision = (await thread.ready).revision;
    });
  }

  async #close(): Promise<void> {
    for (const flag of this.#cancels) flag.raise();
    await this.#thread.close();
    if (this.#holdsVoices) loadedInProcess = false;
  }

  async #outcome(item: SynthesizeItem): Promise<Spoken> {
    try {
      const request = readRequest(item);
      if (item.signal.aborted) return failed(cancelledError(item.requestId));
      const samples = await this.#speak(item, request);
      if (item.signal.aborted) return failed(cancelledError(item.requestId));
      return succeeded({ durationS: samples / FLITE_SAMPLE_RATE });
    } catch (error) {
      return failed(error);
    }
  }

  async #speak(item: SynthesizeItem, request: ReturnType<typeof readRequest>): Promise<number> {
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
      const whole = { ...request, speed: item.speed, cancel: flag.memory };
      const reply = await this.#thread.use(thread => thread.call('speak', whole, { onNotice }));
      if (consumerProblem) throw consumerProblem;
      if (flag.raised) throw cancelledError(item.requestId);
      return reply.samples;
    } finally {
      this.#cancels.delete(flag);
      item.signal.removeEventListener('abort', raise);
    }
  }
}

function startThread(): EngineThread<FliteProtocol, FliteThreadInfo> {
  return new EngineThread({
    entry: threadEntry('./flite.thread.js', import.meta.url),
    name: 'flite',
    data: undefined,
  });
}

function readRequest({ text, voice, speed }: SynthesizeItem) {
  if (!isFliteVoice(voice)) {
    throw new DomainError('voice_not_found', `No voice '${voice}'; voices: ${FLITE_VOICE_IDS.join(', ')}`, {
      param: 'voice',
    });
  }
  if (!(speed >= 0.25 && speed <= 4)) {
    throw new DomainError('invalid_value', `speed is ${speed}; allowed: 0.25 to 4`, { param: 'speed' });
  }
  const sentences = splitIntoSentences(toSpeakableText(text)).filter(isSpeakable);
  if (sentences.length === 0) {
    throw new DomainError('invalid_value', 'input has nothing that an English voice can speak', { param: 'input' });
  }
  return { sentences, voice };
}
