/** What a worker answers and every format is written from: one shape from the wire to the response. */
export interface Transcript {
  readonly text: string;
  /** BCP-47, as the engine recognised it; empty when it cannot tell. */
  readonly language: string;
  /** Seconds of audio. */
  readonly durationS: number;
  readonly segments: readonly TranscriptSegment[];
  readonly words: readonly TranscriptWord[];
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
  readonly compressionRatio: number;
  readonly noSpeechProb: number;
}

export interface TranscriptWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
  /** 0..1; 0 when the engine has none. */
  readonly confidence: number;
}

export type TranscriptTask = 'transcribe' | 'translate';
