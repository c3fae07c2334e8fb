import { type FliteVoiceId } from './flite-voices.js';

export const FLITE_SAMPLE_RATE = 16_000;

interface SpeakRequest {
  readonly sentences: readonly string[];
  readonly voice: FliteVoiceId;
  readonly speed: number;
  /** Memory of a CancelFlag, looked at before each sentence. */
  readonly cancel: SharedArrayBuffer;
}

export interface FliteProtocol {
  /** One notice per sentence, as it is made; the reply tells the samples in all. */
  speak: { request: SpeakRequest; reply: { readonly samples: number }; notice: Int16Array };
}

export interface FliteThreadInfo {
  readonly revision: string;
}
