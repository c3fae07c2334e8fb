import { type TranscriptWord } from '../../../contracts/formats/transcript.js';
import { type RecognizedSegment, type RecognizedTranscript } from '../speech-recognizer.js';
import { type LogMel } from './log-mel.js';
import { type WhisperOnnxOptions } from './options.js';

export interface LogMelThreadData {
  readonly mels: number;
}

interface ExtractRequest {
  /** Mono 16 kHz; moved to the thread. */
  readonly samples: Int16Array;
  /** Memory of a CancelFlag. */
  readonly cancel: SharedArrayBuffer;
}

/** The notice is the result, moved and not copied; the reply says whether there is one. */
export interface LogMelProtocol {
  extract: { request: ExtractRequest; reply: boolean; notice: Float32Array };
}

/** What the model's thread tells once the model is loaded. */
export interface WhisperInfo {
  readonly revision: string;
  readonly mels: number;
  /** What the first window took, for the rows of a whole group. */
  readonly callMs: number;
  readonly languages: readonly string[];
  /** Knows more than English: languages can be asked for or detected, and translated. */
  readonly multilingual: boolean;
  /** The decoder shows its cross attentions and the configuration names the aligned heads. */
  readonly wordTimestamps: boolean;
}

export interface WhisperJob {
  readonly requestId: string;
  readonly mel: LogMel;
  readonly durationS: number;
  readonly task: 'transcribe' | 'translate';
  /** A language of the model; empty: detect. */
  readonly language: string;
  readonly prompt: string;
  readonly hotWords: readonly string[];
  readonly temperature: number;
  readonly wordTimestamps: boolean;
  readonly logprobs: boolean;
  readonly cancel: SharedArrayBuffer;
}

/** Counts since load: what proves the batching. */
export interface WhisperCounters {
  /** Encoder session runs, and the windows in them. */
  readonly encoderRuns: number;
  readonly windows: number;
  /** Decoder session runs: over whole prompts, for language detection, and of one token per row. */
  readonly prefillRuns: number;
  readonly detectRuns: number;
  readonly decodeRuns: number;
  /** Tokens that the decode runs advanced by: rows summed over runs. */
  readonly decodedTokens: number;
  /** Runs over finished windows for the times of words. */
  readonly alignRuns: number;
}

export interface SegmentNotice {
  /** Index of the job in its group. */
  readonly job: number;
  readonly segment: RecognizedSegment;
  readonly words: readonly TranscriptWord[];
}

export interface WhisperProtocol {
  transcribe: { request: readonly WhisperJob[]; reply: readonly JobOutcome[]; notice: SegmentNotice };
  counters: { request: undefined; reply: WhisperCounters; notice: never };
}

/** Errors do not keep their class between threads, so a cancel is told apart from a failure by name. */
export type JobOutcome =
  | { readonly type: 'done'; readonly transcript: RecognizedTranscript }
  | { readonly type: 'cancelled' }
  | { readonly type: 'failed'; readonly message: string };

export type WhisperThreadData = WhisperOnnxOptions;
