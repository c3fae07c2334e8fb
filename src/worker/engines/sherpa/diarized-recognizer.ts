import { Semaphore } from '../../../core/shared/semaphore.js';
import { type EngineInfo, type ItemOutcome } from '../engine.js';
import { type DiarizationOptions, SherpaDiarizer } from './diarizer.js';
import { speakerOf } from './speaker-turns.js';
import {
  type KnownVoice,
  type PreparedAudio,
  type RecognizedTranscript,
  type SpeakerOf,
  type SpeechRecognizer,
  type TranscribeItem,
} from '../speech-recognizer.js';

/** An engine that does not tell speakers apart, beside a diarizer on a thread of its own. */
export class DiarizedRecognizer implements SpeechRecognizer {
  readonly kind = 'stt';
  /** Files wait here, where a cancel reaches them: the library cannot be stopped within one. */
  readonly #turn = new Semaphore(1);
  #diarizer: SherpaDiarizer | undefined;

  constructor(
    private readonly recognizer: SpeechRecognizer,
    private readonly options: DiarizationOptions,
  ) {}

  get input(): SpeechRecognizer['input'] {
    return this.recognizer.input;
  }

  get info(): EngineInfo {
    const { info } = this.recognizer;
    return { ...info, capabilities: [...info.capabilities, 'diarize'] };
  }

  async load(): Promise<void> {
    this.#diarizer ??= new SherpaDiarizer(this.options, 1);
    await Promise.all([this.recognizer.load(), this.#diarizer.ready]);
  }

  prepare(audio: PreparedAudio, signal: AbortSignal): Promise<void> {
    return this.recognizer.prepare?.(audio, signal) ?? Promise.resolve();
  }

  transcribe(batch: readonly TranscribeItem[]): Promise<readonly ItemOutcome<RecognizedTranscript>[]> {
    return this.recognizer.transcribe(batch);
  }

  async speakersOf(samples: Int16Array, known: readonly KnownVoice[], signal: AbortSignal): Promise<SpeakerOf> {
    const turn = await this.#turn.acquire(signal);
    try {
      const turns = (await this.#diarizer?.turnsOf(samples, known)) ?? [];
      return span => speakerOf(span, turns);
    } finally {
      turn.release();
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.recognizer.close(), this.#diarizer?.close()]);
  }
}
