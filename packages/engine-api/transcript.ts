export type TranscriptTask = 'transcribe' | 'translate';

/**
 * What a transcription asks for, from the HTTP form to the engine. A new field is added
 * here, to the DTO, to the proto and its codec, and to the engines that can honour it.
 */
export interface TranscriptionParams {
  readonly task: TranscriptTask;
  /** BCP-47; empty: detect. */
  readonly language: string;
  readonly prompt: string;
  /** 0..1 */
  readonly temperature: number;
  readonly wordTimestamps: boolean;
  /** This and the next three are asked only of models with that capability. */
  readonly logprobs: boolean;
  /** A speaker on each segment. */
  readonly diarize: boolean;
  readonly knownSpeakers: readonly KnownSpeaker[];
  /** Words and phrases to expect. */
  readonly hotWords: readonly string[];
  /** How long audio is cut; absent: the worker decides. */
  readonly chunking?: Chunking;
}

/** A transcription with no options set. */
export const PLAIN_TRANSCRIPTION: TranscriptionParams = {
  task: 'transcribe',
  language: '',
  prompt: '',
  temperature: 0,
  wordTimestamps: false,
  logprobs: false,
  diarize: false,
  knownSpeakers: [],
  hotWords: [],
};

/** A voice the caller can name; `reference` is an audio file of that voice alone. */
export interface KnownSpeaker {
  readonly name: string;
  readonly reference: Buffer;
}

export interface Chunking {
  /** What counts as speech, 0..1. */
  readonly threshold: number;
  readonly prefixPaddingMs: number;
  readonly silenceDurationMs: number;
}

/** The answer of a worker, from which every response format is written. */
export interface Transcript {
  readonly text: string;
  /** BCP-47, as the engine recognised it; empty when it does not know. */
  readonly language: string;
  /** Seconds of audio. */
  readonly durationS: number;
  readonly segments: readonly TranscriptSegment[];
  readonly words: readonly TranscriptWord[];
  /** When asked for, of models that have them. */
  readonly logprobs?: readonly TokenLogprob[];
}

export interface TokenLogprob {
  readonly token: string;
  /** Natural logarithm, <= 0. */
  readonly logprob: number;
  /** UTF-8 of the token, which may be part of a character only. */
  readonly bytes: Uint8Array;
}

export interface TranscriptSegment {
  readonly id: number;
  /** Seconds from the start of the audio. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly tokens: readonly number[];
  readonly temperature: number;
  readonly avgLogprob: number;
  readonly noSpeechProb: number;
  /**
   * Of the window that the segment was decoded in, as Whisper's; absent: that of
   * its own text.
   */
  readonly compressionRatio?: number;
  /**
   * A known speaker's name, or "A", "B", ... in order of appearance; absent
   * without diarisation.
   */
  readonly speaker?: string;
}

export interface TranscriptWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
  /** 0..1; 0 when the engine has none. */
  readonly confidence: number;
}
