import { DomainError } from '../../core/shared/domain-error.js';
import { type EngineBase, type ItemOutcome } from './engine.js';

export interface TranscribeItem {
  readonly requestId: string;
  /** Mono PCM at 16 kHz when `input` is 'pcm'; the untouched file when it is 'encoded'. */
  readonly audio: PreparedAudio;
  readonly task: 'transcribe' | 'translate';
  /** BCP-47; empty: detect. */
  readonly language: string;
  readonly prompt: string;
  readonly temperature: number;
  readonly wordTimestamps: boolean;
  /** Wants `Transcript.logprobs`; asked of engines with that capability only, as the next three. */
  readonly logprobs?: boolean;
  /** Wants a speaker on each segment. */
  readonly diarize?: boolean;
  readonly knownSpeakers?: readonly KnownVoice[];
  /** Words and phrases to expect. */
  readonly hotWords?: readonly string[];
  /** How the caller wants long audio cut: of engines that take files untouched; for the others the worker has cut. */
  readonly chunking?: Chunking;
  /** Told each segment once it is final, in order of time, where the engine knows before the end. */
  readonly onSegment?: (
    segment: TranscriptSegment,
    words: readonly TranscriptWord[],
    logprobs?: readonly TokenLogprob[],
  ) => void;
  /** Checked between segments; once aborted the item's outcome is ignored. */
  readonly signal: AbortSignal;
}

interface Chunking {
  /** What counts as speech, 0..1. */
  readonly threshold: number;
  readonly prefixPaddingMs: number;
  readonly silenceDurationMs: number;
}

export type PreparedAudio =
  | { readonly kind: 'pcm'; readonly samples: Int16Array; readonly sampleRate: 16000; readonly durationS: number }
  | { readonly kind: 'encoded'; readonly bytes: Uint8Array; readonly filename: string; readonly durationS: number };

/** A voice the caller can name; `samples` as in `PreparedAudio`. */
export interface KnownVoice {
  readonly name: string;
  readonly samples: Int16Array;
}

export interface TranscriptWord {
  readonly word: string;
  /** Seconds from the start of the audio. */
  readonly start: number;
  readonly end: number;
  /** 0..1; 0 when the engine has none. */
  readonly confidence: number;
}

export interface TranscriptSegment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly avgLogprob: number;
  readonly noSpeechProb: number;
  /** Token ids of the model; absent: it has none. */
  readonly tokens?: readonly number[];
  /** The temperature this segment was decoded at, after fallback. */
  readonly temperature?: number;
  /** A known speaker's name, or "A", "B", ... in order of appearance. */
  readonly speaker?: string;
}

export interface TokenLogprob {
  readonly token: string;
  /** Natural logarithm, <= 0. */
  readonly logprob: number;
  /** UTF-8 of the token, which may be part of a character only. */
  readonly bytes: Uint8Array;
}

export interface Transcript {
  readonly text: string;
  readonly language: string;
  /** Seconds of the whole audio, from an engine that decodes by itself; absent: the length of what it was given. */
  readonly durationS?: number;
  readonly segments: readonly TranscriptSegment[];
  readonly words: readonly TranscriptWord[];
  readonly logprobs?: readonly TokenLogprob[];
}

/**
 * Recognition. `transcribe` is one engine call for the whole group; it answers per item, in order, and never rejects.
 */
export interface SpeechRecognizer extends EngineBase {
  readonly kind: 'stt';
  readonly input: 'pcm' | 'encoded';
  /** Long audio comes cut into items of at most so many seconds; absent: 30. */
  readonly longestItemS?: number;
  /** Input 'encoded': a larger file comes decoded and cut, as WAV. Bytes; absent: 25 MiB, OpenAI's own limit. */
  readonly largestFileBytes?: number;
  /**
   * CPU work of this engine on one item before it is READY, run with the decode stage's parallelism and never on the
   * device. Rejects when `signal` aborts, as soon as the work is let go. Absent: nothing to do.
   */
  prepare?(audio: PreparedAudio, signal: AbortSignal): Promise<void>;
  transcribe(batch: readonly TranscribeItem[]): Promise<readonly ItemOutcome<Transcript>[]>;
  /** Present when `info.streams > 0`. */
  openStream?(options: RecognizerStreamOptions): Promise<RecognizerStream>;
}

export interface RecognizerStreamOptions {
  readonly language: string;
  /** Not empty for models with the capability `prompt` only. */
  readonly prompt?: string;
  /** Wants `partial` events while speech goes on. */
  readonly partials: boolean;
}

/** What a live stream's user hears about: the engine's events and, with voice activity, where speech is. */
export type StreamEvent =
  | RecognizerEvent
  /** Seconds from the start of the stream where the utterance's audio begins and ends, padding included. */
  | { readonly type: 'speech_started'; readonly utterance: number; readonly at: number }
  | { readonly type: 'speech_stopped'; readonly utterance: number; readonly at: number };

export type RecognizerEvent =
  | { readonly type: 'partial'; readonly utterance: number; readonly text: string }
  | {
      readonly type: 'final';
      readonly utterance: number;
      readonly text: string;
      /** Seconds from the start of the stream. */
      readonly start: number;
      readonly end: number;
      readonly words: readonly TranscriptWord[];
    };

/** One live stream. Calls are ordered; events carry utterance numbers from 0. */
export interface RecognizerStream {
  /** Mono s16 at 16 kHz. Resolves when taken: the natural back pressure. */
  push(samples: Int16Array): Promise<readonly RecognizerEvent[]>;
  /** Ends the utterance; its `final` is among the answers. The next push starts another one. */
  commit(): Promise<readonly RecognizerEvent[]>;
  close(): Promise<void>;
}

/** The decoded samples of an item; throws `engine_failed` when the audio still is an encoded file. */
export function pcmOf({ audio }: TranscribeItem, engine: string): Int16Array {
  if (audio.kind === 'pcm') return audio.samples;
  throw new DomainError('engine_failed', `${engine} was given an encoded file; it takes PCM.`);
}
