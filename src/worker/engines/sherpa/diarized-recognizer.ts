import { type EngineInfo, type ItemOutcome } from '../engine.js';
import {
  type PreparedAudio,
  type RecognizedTranscript,
  type SpeechRecognizer,
  type TranscribeItem,
} from '../speech-recognizer.js';
import { type SherpaDiarizer } from './diarizer.js';

/** An engine that does not tell speakers apart, beside a diarizer on a thread of its own. */
export class DiarizedRecognizer implements SpeechRecognizer {
  readonly kind = 'stt';

  constructor(
    private readonly recognizer: SpeechRecognizer,
    private readonly diarizer: SherpaDiarizer,
  ) {}

  get input(): SpeechRecognizer['input'] {
    return this.recognizer.input;
  }

  get info(): EngineInfo {
    const { info } = this.recognizer;
    return { ...info, capabilities: [...info.capabilities, 'diarize'] };
  }

  checkFiles(): string {
    this.diarizer.checkFiles();
    return this.recognizer.checkFiles?.() ?? '';
  }

  async load(): Promise<void> {
    await Promise.all([this.recognizer.load(), this.diarizer.load()]);
  }

  prepare(audio: PreparedAudio, signal: AbortSignal): Promise<void> {
    return this.recognizer.prepare?.(audio, signal) ?? Promise.resolve();
  }

  transcribe(batch: readonly TranscribeItem[]): Promise<readonly ItemOutcome<RecognizedTranscript>[]> {
    return this.recognizer.transcribe(batch);
  }

  speakersOf(...file: Parameters<SherpaDiarizer['speakersOf']>): ReturnType<SherpaDiarizer['speakersOf']> {
    return this.diarizer.speakersOf(...file);
  }

  async close(): Promise<void> {
    await Promise.all([this.recognizer.close(), this.diarizer.close()]);
  }
}
