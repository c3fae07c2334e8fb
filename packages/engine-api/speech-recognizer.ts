import {
  type TokenLogprob,
  type Transcript,
  type TranscriptionParams,
  type TranscriptSegment,
  type TranscriptWord,
} from './transcript.js';
import { EngineError } from './coded-error.js';
import { type EngineBase, type ItemOutcome } from './engine.js';

/**
 * One file of an engine call. The optional fields are asked of engines with
 * that capability only.
 */
export interface TranscribeItem
  extends
    Omit<TranscriptionParams, 'knownSpeakers' | AskedOfAbleEngines>,
    Partial<Pick<TranscriptionParams, AskedOfAbleEngines>> {
  readonly requestId: string;
  /** W3C Trace Context, for engines that ask another server. */
  readonly traceparent?: string | undefined;
  /**
   * Mono PCM at 16 kHz when `input` is 'pcm'; the untouched file when it is 'encoded'.
   */
  readonly audio: PreparedAudio;
  readonly knownSpeakers?: readonly KnownVoice[];
  /**
   * Receives each segment once it is final, in order of time, where the engine knows
   * before the end.
   */
  readonly onSegment?: (
    segment: RecognizedSegment,
    words: readonly TranscriptWord[],
    logprobs?: readonly TokenLogprob[],
  ) => void;
  /** Checked between segments; once aborted the item's outcome is ignored. */
  readonly signal: AbortSignal;
}

type AskedOfAbleEngines = 'logprobs' | 'diarize' | 'hotWords';

export type PreparedAudio =
  | {
      readonly kind: 'pcm';
      readonly samples: Int16Array;
      readonly sampleRate: 16000;
      readonly durationS: number;
    }
  | {
      readonly kind: 'encoded';
      readonly bytes: Uint8Array;
      readonly filename: string;
      readonly durationS: number;
    };

/** A voice the caller can name; `samples` as in `PreparedAudio`. */
export interface KnownVoice {
  readonly name: string;
  readonly samples: Int16Array;
}

/** The speaker of most of a span; '' if the whole file has no speech. Seconds. */
export type SpeakerOf = (span: {
  readonly start: number;
  readonly end: number;
}) => string;

/**
 * A segment before it is numbered. Token ids and temperature are optional: not every
 * engine has them.
 */
export type RecognizedSegment = Omit<TranscriptSegment, 'id' | 'tokens' | 'temperature'> &
  Partial<Pick<TranscriptSegment, 'tokens' | 'temperature'>>;

/** What an engine returns. `durationS` comes from engines that decode by themselves. */
export type RecognizedTranscript = Omit<Transcript, 'segments' | 'durationS'> &
  Partial<Pick<Transcript, 'durationS'>> & {
    readonly segments: readonly RecognizedSegment[];
  };

/**
 * Recognition. `transcribe` is one engine call for the whole group; it answers per item,
 * in order, and never rejects.
 */
export interface SpeechRecognizer extends EngineBase {
  readonly kind: 'stt';
  readonly input: 'pcm' | 'encoded';
  /** Long audio comes cut into items of at most so many seconds; absent: 30. */
  readonly longestItemS?: number;
  /**
   * Input 'encoded': a larger file comes decoded and cut, as WAV. Bytes; absent: 25 MiB,
   * OpenAI's own limit.
   */
  readonly largestFileBytes?: number;
  /**
   * CPU work of this engine on one item before it is READY, run with the decode stage's
   * parallelism and never on the device. Rejects when `signal` aborts, as soon as the
   * work is given up. Absent: nothing to do.
   */
  prepare?(audio: PreparedAudio, signal: AbortSignal): Promise<void>;
  transcribe(
    batch: readonly TranscribeItem[],
  ): Promise<readonly ItemOutcome<RecognizedTranscript>[]>;
  /**
   * Who speaks when in a whole file, computed beside recognition and not by
   * `transcribe`, which is never asked to diarize then. Rejects when `signal` aborts
   * before its turn has come.
   */
  speakersOf?(
    samples: Int16Array,
    known: readonly KnownVoice[],
    signal: AbortSignal,
  ): Promise<SpeakerOf>;
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

/**
 * What an engine reports of a live stream; utterances count from 0, times are seconds
 * from the start of the stream.
 */
export type RecognizerEvent =
  | { readonly type: 'partial'; readonly utterance: number; readonly text: string }
  | {
      readonly type: 'final';
      readonly utterance: number;
      readonly text: string;
      readonly start: number;
      readonly end: number;
      readonly words: readonly TranscriptWord[];
    };

/** One live stream. Calls are ordered; events carry utterance numbers from 0. */
export interface RecognizerStream {
  /** Mono s16 at 16 kHz. Resolves when taken: the natural back pressure. */
  push(samples: Int16Array): Promise<readonly RecognizerEvent[]>;
  /**
   * Ends the utterance; its `final` is among the answers. The next push
   * starts another one.
   */
  commit(): Promise<readonly RecognizerEvent[]>;
  close(): Promise<void>;
}

/**
 * The decoded samples of an item; throws `engine_failed` when the audio still is
 * an encoded file.
 */
export function pcmOf({ audio }: TranscribeItem, engine: string): Int16Array {
  if (audio.kind === 'pcm') return audio.samples;
  throw new EngineError(
    'engine_failed',
    `${engine} was given an encoded file; it takes PCM.`,
  );
}
