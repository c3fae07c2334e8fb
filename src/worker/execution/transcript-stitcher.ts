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
import { type CallExecution } from '@switchyard/worker-protocol/call.codec.js';
import { joinedText } from '../../contracts/formats/joined-text.js';
import { type AudioWindow } from '../audio/window-cutter.js';

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

/** One window's result, with times from the start of the whole audio. */
interface WindowText {
  segments: RecognizedSegment[];
  words: TranscriptWord[];
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
  #held: WindowText | undefined;
  #endS = 0;
  /** The window that comes next, and how many of its segments are emitted already. */
  #next = 0;
  #emitted = 0;

  constructor(
    private readonly options: {
      /** Temperature of segments that have none. */
      readonly temperature: number;
      /** Whether the answer has words; they are always used to join windows. */
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
      if (sharedBeforeS > 0) joinOverlap(this.#held, text, startS, startS + sharedBeforeS);
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

  #settle({ segments, words, logprobs }: WindowText): void {
    const emitted = this.#emitted;
    this.#emitted = 0;
    segments.forEach((segment, index) => {
      if (index < emitted) return;
      const last = index === segments.length - 1;
      const own = words.filter(word => belongs(word, segments, index));
      this.#emit(segment, this.options.words ? own : [], last && emitted === 0 ? logprobs : []);
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
): WindowText {
  const { text, words, logprobs = [] } = transcript;
  const whole = { start: 0, end: durationS, text, avgLogprob: 0, noSpeechProb: 0 };
  const segments =
    transcript.segments.length === 0 && text.trim() !== '' ? [whole] : transcript.segments;
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
  byS === 0 ? timed : { ...timed, start: laterBy(timed.start, byS), end: laterBy(timed.end, byS) };

interface Token {
  /** Index of its segment. */
  readonly segment: number;
  /** Index within the segment. */
  readonly place: number;
  readonly spelling: string;
}

/** How far engines' times may be off at the border of a window. */
const SLACK_S = 0.5;
/** Tokens that are compared at most; an overlap never has more. */
const MOST_TOKENS = 40;

/**
 * Joins two windows that share audio: words recognised in both stay in the first one. The
 * longest run of equal words decides where; without one, the middle of the overlap does,
 * if the words have times. Otherwise both stay: a doubled word is better than a lost one.
 * @param from seconds from the start of the audio, as `to`: what they share
 */
function joinOverlap(before: WindowText, after: WindowText, from: number, to: number): void {
  const tail = tokensOf(before, ({ end }) => end > from - SLACK_S).slice(-MOST_TOKENS);
  const head = tokensOf(after, ({ start }) => start < to + SLACK_S).slice(0, MOST_TOKENS);
  const run = longestRun(tail, head);
  if (run !== undefined) {
    cut(before, tail[run.inTail + run.length - 1]!, 'until');
    cut(after, head[run.inHead + run.length - 1]!, 'after');
  } else if (before.words.length > 0 && after.words.length > 0) {
    splitAt((from + to) / 2, before, after);
  }
}

function tokensOf(
  { segments }: WindowText,
  near: (segment: RecognizedSegment) => boolean,
): Token[] {
  return segments.flatMap((segment, index) =>
    near(segment)
      ? tokens(segment.text).map((text, place) => ({
          segment: index,
          place,
          spelling: spellingOf(text),
        }))
      : [],
  );
}

const UNSPACED = /([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])/u;

/** Splits a text into words, or characters in scripts without spaces. */
const tokens = (text: string): string[] =>
  text
    .split(/\s+/)
    .flatMap(word => word.split(UNSPACED))
    .filter(word => word !== '');

const spellingOf = (word: string): string => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** Of equally long runs the last in the tail; a single short word does not count. */
function longestRun(tail: readonly Token[], head: readonly Token[]) {
  let best = { inTail: 0, inHead: 0, length: 0 };
  for (let inTail = 0; inTail < tail.length; inTail += 1) {
    for (let inHead = 0; inHead < head.length; inHead += 1) {
      let length = 0;
      while (isSame(tail[inTail + length], head[inHead + length])) length += 1;
      if (length > 0 && length >= best.length) best = { inTail, inHead, length };
    }
  }
  const { inTail, length } = best;
  const counts = length > 1 || (length === 1 && tail[inTail]!.spelling.length > 3);
  return counts ? best : undefined;
}

const isSame = (one: Token | undefined, other: Token | undefined): boolean =>
  one !== undefined && one.spelling !== '' && one.spelling === other?.spelling;

/**
 * Leaves what stands up to a token and with it, or what follows it: segments, and their
 * words.
 */
function cut(text: WindowText, { segment, place }: Token, side: 'until' | 'after'): void {
  const isUntil = side === 'until';
  const { segments, words } = text;
  const edge = isUntil
    ? part(segments[segment]!, 0, place + 1)
    : part(segments[segment]!, place + 1, Infinity);
  const kept = isUntil
    ? [...segments.slice(0, segment), edge]
    : [...(edge.text === '' ? [] : [edge]), ...segments.slice(segment + 1)];
  const [all, count] = [countOf(segments), countOf(kept)];
  // As many words as tokens: then they are the same, one by one. Else the times decide.
  if (words.length === all) text.words = isUntil ? words.slice(0, count) : words.slice(all - count);
  else
    text.words = words.filter(word =>
      isUntil ? middleOf(word) <= edge.end : middleOf(word) >= edge.start,
    );
  text.segments = kept;
  if (text.words.length !== count || count === 0) return;
  // The exact time of the edge, which the words have.
  text.segments = isUntil
    ? kept.with(-1, { ...kept.at(-1)!, end: text.words.at(-1)!.end })
    : kept.with(0, { ...kept[0]!, start: text.words[0]!.start });
}

/** The tokens `from` to `to` of a segment, with its time in proportion. */
function part(segment: RecognizedSegment, from: number, to: number): RecognizedSegment {
  const all = tokens(segment.text);
  if (from === 0 && to >= all.length) return segment;
  const { start, end } = segment;
  const at = (place: number): number =>
    start + ((end - start) * Math.min(place, all.length)) / all.length;
  const { tokens: _ids, ...rest } = segment;
  const text = joinedText(all.slice(from, to));
  return { ...rest, text, start: at(from), end: at(to) };
}

const middleOf = ({ start, end }: TranscriptWord): number => (start + end) / 2;

/** Splits only where the words and tokens of both windows agree one by one. */
function splitAt(time: number, before: WindowText, after: WindowText): void {
  for (const text of [before, after]) {
    if (text.words.length !== countOf(text.segments)) continue;
    const count = text.words.filter(word => middleOf(word) < time).length;
    const last = tokensOf(text, () => true)[count - 1];
    if (text === after) {
      if (last) cut(text, last, 'after');
    } else if (!last) Object.assign(text, { segments: [], words: [] });
    else if (count < text.words.length) cut(text, last, 'until');
  }
}

const countOf = (segments: readonly RecognizedSegment[]): number =>
  segments.reduce((sum, { text }) => sum + tokens(text).length, 0);
