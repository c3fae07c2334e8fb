import { EngineError } from './coded-error.js';
import { type EngineBase, type ItemOutcome } from './engine.js';

/**
 * What a transcription asks for, from the HTTP form to the engine. A new field is added
 * here, to the DTO, to the proto and its codec, and to the engines that can honour it.
 */
export interface TranscriptionParams {
  readonly task: 'transcribe' | 'translate';
  /** BCP-47; empty: detect. */
  readonly language: string;
  readonly prompt: string;
  /** 0..1 */
  readonly temperature: number;
  readonly wordTimestamps: boolean;
  /** This and the next three are asked only of models with that capability. */
  readonly logprobs: boolean;
  /** Whether each segment names its speaker. */
  readonly diarize: boolean;
  readonly knownSpeakers: readonly KnownSpeaker[];
  /** Words and phrases to expect. */
  readonly hotWords: readonly string[];
  /** How long audio is split; absent: the worker decides. */
  readonly chunking?: VoiceActivityOptions;
  /**
   * Text of an unfinished utterance that later text replaces: an engine may compute it faster and
   * less well. Its language may be what the model recognised in the speech before.
   */
  readonly draft?: boolean | undefined;
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

export interface VoiceActivityOptions {
  /** Probability of speech that starts an utterance, 0..1. */
  readonly threshold: number;
  /** Audio before the start of speech that belongs to the utterance. */
  readonly prefixPaddingMs: number;
  /** Silence that ends an utterance. */
  readonly silenceDurationMs: number;
}

/** The answer of a worker, from which every response format is written. */
export interface Transcript {
  readonly text: string;
  /** BCP-47, as the engine recognised it; empty when it does not know. */
  readonly language: string;
  /** Length of the audio in seconds. */
  readonly durationS: number;
  readonly segments: readonly TranscriptSegment[];
  readonly words: readonly TranscriptWord[];
  /** Present when they were asked for and the model has them. */
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

/**
 * One file of an engine call. The optional fields are asked of engines with
 * that capability only.
 */
export interface TranscribeItem
  extends
    Omit<TranscriptionParams, 'logprobs' | 'diarize' | 'knownSpeakers' | 'hotWords'>,
    Partial<Pick<TranscriptionParams, 'logprobs' | 'diarize' | 'hotWords'>> {
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
   * @returns the speaker of most of a span; '' if the whole file has no speech
   */
  speakersOf?(
    samples: Int16Array,
    known: readonly KnownVoice[],
    signal: AbortSignal,
  ): Promise<(span: { readonly start: number; readonly end: number }) => string>;
  /** Present when `info.streams > 0`. */
  openStream?(options: RecognizerStreamOptions): Promise<RecognizerStream>;
}

export interface RecognizerStreamOptions {
  readonly language: string;
  /** Text that precedes the audio; set only for models with the capability `prompt`. */
  readonly prompt?: string;
  /** Whether `partial` events are sent during speech. */
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

/** The event with its times moved by `byS` seconds, rounded to milliseconds. */
export function movedEvent(
  event: RecognizerEvent,
  utterance: number,
  byS: number,
): RecognizerEvent {
  if (event.type === 'partial') return { ...event, utterance };
  const moved = <T extends { readonly start: number; readonly end: number }>(timed: T): T => ({
    ...timed,
    start: laterBy(timed.start, byS),
    end: laterBy(timed.end, byS),
  });
  return { ...moved(event), utterance, words: event.words.map(moved) };
}

/** `seconds + byS`, rounded to milliseconds. */
export const laterBy = (seconds: number, byS: number): number =>
  Math.round((seconds + byS) * 1000) / 1000;

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
 * Rejects what an engine that only returns the likeliest words could only ignore: every
 * accepted field acts.
 * @param cannot makes the error of a field, in the name of the engine
 */
export function requirePlain(
  { prompt, temperature, logprobs, hotWords = [] }: TranscribeItem,
  cannot: (param: string, why: string) => EngineError,
): void {
  if (prompt !== '') throw cannot('prompt', 'takes no prompt; leave `prompt` out');
  if (temperature !== 0)
    throw cannot('temperature', 'always answers the likeliest words; leave `temperature` at 0');
  if (logprobs) throw cannot('include[]', 'tells no log probabilities');
  if (hotWords.length > 0) throw cannot('hot_words', 'takes no hot words');
}

/**
 * The decoded samples of an item; throws `engine_failed` when the audio still is
 * an encoded file.
 */
export function pcmOf({ audio }: TranscribeItem, engine: string): Int16Array {
  if (audio.kind === 'pcm') return audio.samples;
  throw new EngineError('engine_failed', `${engine} was given an encoded file; it takes PCM.`);
}
