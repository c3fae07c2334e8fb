import { type SpeechSynthesizer } from '@switchyard/engine-api/speech-synthesizer.js';
import { type Notify } from '@switchyard/engine-api/threads/remote-calls.js';

/**
 * The clear 16 kHz voices of Debian's libflite1. kal is 8 kHz and robotic; kal16 is
 * the same man.
 */
export const FLITE_VOICES = [
  { id: 'rms', name: 'RMS', language: 'en-US', gender: 'male' },
  { id: 'slt', name: 'SLT', language: 'en-US', gender: 'female' },
  { id: 'awb', name: 'AWB', language: 'en-GB', gender: 'male' },
] as const satisfies SpeechSynthesizer['voices'];

export const FLITE_SAMPLE_RATE = 16_000;

export interface FliteThread {
  readonly data: undefined;
  readonly info: string;
  readonly calls: {
    /** One notice per sentence, as it is made. @returns the samples in all */
    speak(
      request: {
        readonly sentences: readonly string[];
        readonly voice: (typeof FLITE_VOICES)[number]['id'];
        readonly speed: number;
        /** Memory of a CancelFlag, looked at before each sentence. */
        readonly cancel: SharedArrayBuffer;
      },
      notify: Notify<Int16Array>,
    ): number;
  };
}
