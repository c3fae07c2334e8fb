/** What a worker answers and every format is written from: one shape from the wire to the response. */
export interface Transcript {
  readonly text: string;
  /** BCP-47, as the engine recognised it; empty when it cannot tell. */
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
  /** A known speaker's name, or "A", "B", ... in order of appearance; absent without diarisation. */
  readonly speaker?: string;
}

export interface TranscriptWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
  /** 0..1; 0 when the engine has none. */
  readonly confidence: number;
}

export type TranscriptTask = 'transcribe' | 'translate';
