import { type CallExecution } from '../../contracts/grpc/call.codec.js';
import { joinedText } from '../../contracts/formats/joined-text.js';
import {
  laterBy,
  type RecognizedSegment,
  type RecognizedTranscript,
  type TokenLogprob,
  type TranscribeItem,
  type Transcript,
  type TranscriptSegment,
  type TranscriptWord,
} from '@switchyard/engine-api/speech-recognizer.js';
import { type AudioWindow } from '../audio/window-cutter.js';
import { joinOverlap, type WindowText } from './overlap-words.js';

/** Segments as in verbose_json: numbered, with defaults filled in. */
export const numberedSegments = (
  transcript: RecognizedTranscript,
  temperature: number,
): TranscriptSegment[] =>
  transcript.segments.map((segment, id) => numbered(segment, id, temperature));

/** @param temperature of segments without their own */
const numbered = (
  segment: RecognizedSegment,
  id: number,
  temperature: number,
): TranscriptSegment => ({
  tokens: [],
  temperature,
  ...segment,
  id,
});

export interface TranscriptAnswer {
  readonly transcript: Transcript;
  readonly execution: CallExecution;
}

/** Receives each segment once it is final, in order of time. */
export type SegmentSink = (
  segment: TranscriptSegment,
  words: readonly TranscriptWord[],
  logprobs: readonly TokenLogprob[],
) => void;

interface Held extends WindowText {
  readonly logprobs: readonly TokenLogprob[];
}

/**
 * Joins the results of windows, added in order, into one transcript with times from its
 * start and numbered segments.
 */
export class TranscriptStitcher {
  readonly #segments: TranscriptSegment[] = [];
  readonly #words: TranscriptWord[] = [];
  readonly #logprobs: TokenLogprob[] = [];
  /** Seconds of speech by language. */
  readonly #languages = new Map<string, number>();
  /**
   * A window that shares its end with the next one: not final before the next
   * one is added.
   */
  #held: Held | undefined;
  #endS = 0;
  /** The window that comes next, and how many of its segments are emitted already. */
  #next = 0;
  #emitted = 0;

  constructor(
    private readonly options: {
      /** For segments without their own. */
      readonly temperature: number;
      /** False: words are only needed to join windows. */
      readonly words: boolean;
      readonly sink?: SegmentSink;
    },
  ) {}

  /**
   * For the engine's own `onSegment`: once all windows before are added, segments are
   * final at once. Only for windows that share no audio with others.
   */
  early(index: number, startS: number): NonNullable<TranscribeItem['onSegment']> {
    let ordinal = 0;
    return (segment, words, logprobs = []) => {
      // A window whose turn came in its middle is emitted as a whole, to keep the order.
      const inOrder = index === this.#next && ordinal === this.#emitted;
      ordinal += 1;
      if (!inOrder) return;
      this.#emitted = ordinal;
      this.#emit(
        moved(segment, startS),
        this.options.words ? words.map(word => moved(word, startS)) : [],
        logprobs,
      );
    };
  }

  add(window: Omit<AudioWindow, 'samples'>, transcript: RecognizedTranscript): void {
    const text = placed(window, transcript);
    const { startS, durationS, sharedBeforeS, sharedAfterS } = window;
    this.#endS = startS + durationS;
    this.#next = window.index + 1;
    this.#languages.set(
      transcript.language,
      (this.#languages.get(transcript.language) ?? 0) + durationS,
    );
    if (this.#held) {
      if (sharedBeforeS > 0)
        joinOverlap(this.#held, text, startS, startS + sharedBeforeS);
      this.#settle(this.#held);
    }
    this.#held = sharedAfterS > 0 ? text : undefined;
    if (!this.#held) this.#settle(text);
  }

  /** The transcript of all that was added. */
  finish(): Transcript {
    if (this.#held) this.#settle(this.#held);
    this.#held = undefined;
    return {
      text: joinedText(this.#segments.map(({ text }) => text)),
      language: this.#language(),
      durationS: this.#endS,
      segments: this.#segments,
      words: this.#words,
      logprobs: this.#logprobs.length > 0 ? this.#logprobs : undefined,
    };
  }

  #settle({ segments, words, logprobs }: Held): void {
    const emitted = this.#emitted;
    this.#emitted = 0;
    segments.forEach((segment, index) => {
      if (index < emitted) return;
      const last = index === segments.length - 1;
      const own = words.filter(word => belongs(word, segments, index));
      this.#emit(
        segment,
        this.options.words ? own : [],
        last && emitted === 0 ? logprobs : [],
      );
    });
  }

  /**
   * An engine returns a window's log probabilities as one list: they go with
   * its last segment.
   */
  #emit(
    segment: RecognizedSegment,
    words: readonly TranscriptWord[],
    logprobs: readonly TokenLogprob[],
  ): void {
    const made = numbered(segment, this.#segments.length, this.options.temperature);
    this.#segments.push(made);
    for (const word of words) this.#words.push(word);
    for (const logprob of logprobs) this.#logprobs.push(logprob);
    this.options.sink?.(made, words, logprobs);
  }

  /** The language of most of the audio. */
  #language(): string {
    const [most] = [...this.#languages]
      .filter(([tag]) => tag !== '')
      .sort(([, one], [, other]) => other - one);
    return most?.[0] ?? '';
  }
}

/**
 * Each word goes with the segment it begins in; the last segment that began, where it
 * begins in none.
 */
function belongs(
  word: TranscriptWord,
  segments: readonly RecognizedSegment[],
  index: number,
): boolean {
  const from = index === 0 ? -Infinity : segments[index]!.start;
  const to = segments[index + 1]?.start ?? Infinity;
  return word.start >= from && word.start < to;
}

function placed(
  { startS, durationS }: Omit<AudioWindow, 'samples'>,
  transcript: RecognizedTranscript,
): Held {
  const { text, words, logprobs = [] } = transcript;
  const whole = { start: 0, end: durationS, text, avgLogprob: 0, noSpeechProb: 0 };
  const segments =
    transcript.segments.length === 0 && text.trim() !== ''
      ? [whole]
      : transcript.segments;
  return {
    segments: segments.map(segment => moved(segment, startS)),
    words: words.map(word => moved(word, startS)),
    logprobs,
  };
}

const moved = <T extends { readonly start: number; readonly end: number }>(
  timed: T,
  byS: number,
): T =>
  byS === 0
    ? timed
    : { ...timed, start: laterBy(timed.start, byS), end: laterBy(timed.end, byS) };
