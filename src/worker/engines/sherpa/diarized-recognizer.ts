import { type EngineInfo, type ItemOutcome } from '../engine.js';
import {
  type KnownVoice,
  type PreparedAudio,
  type RecognizedTranscript,
  type SpeakerOf,
  type SpeechRecognizer,
  type TranscribeItem,
} from '../speech-recognizer.js';
import { checkDiarizationFiles, type DiarizationOptions, SherpaDiarizer } from './diarizer.js';

/** An engine that does not tell speakers apart, beside a diarizer on a thread of its own. */
export class DiarizedRecognizer implements SpeechRecognizer {
  readonly kind = 'stt';
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

  checkFiles(): string {
    checkDiarizationFiles(this.options);
    return this.recognizer.checkFiles?.() ?? '';
  }

  async load(): Promise<void> {
    this.#diarizer ??= new SherpaDiarizer(this.options);
    await Promise.all([this.recognizer.load(), this.#diarizer.ready]);
  }

  prepare(audio: PreparedAudio, signal: AbortSignal): Promise<void> {
    return this.recognizer.prepare?.(audio, signal) ?? Promise.resolve();
  }

  transcribe(batch: readonly TranscribeItem[]): Promise<readonly ItemOutcome<RecognizedTranscript>[]> {
    return this.recognizer.transcribe(batch);
  }

  async speakersOf(samples: Int16Array, known: readonly KnownVoice[], signal: AbortSignal): Promise<SpeakerOf> {
    if (!this.#diarizer) throw new Error('the diarizer is not loaded');
    return this.#diarizer.speakersOf(samples, known, signal);
  }

  async close(): Promise<void> {
    await Promise.all([this.recognizer.close(), this.#diarizer?.close()]);
  }
}
