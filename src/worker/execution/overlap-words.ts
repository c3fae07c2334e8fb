import {
  type RecognizedSegment,
  type TranscriptWord,
} from '@switchyard/engine-api/speech-recognizer.js';
import { joinedText } from '../../contracts/formats/joined-text.js';

/** One window's result, with times from the start of the whole audio. */
export interface WindowText {
  segments: RecognizedSegment[];
  words: TranscriptWord[];
}

interface Token {
  /** Place of its segment. */
  readonly segment: number;
  /** Place within it. */
  readonly place: number;
  readonly spelling: string;
}

/** How far engines' times are off at the border of a window. */
const SLACK_S = 0.5;
/** Bounds the comparison; more is never spoken in an overlap. */
const MOST_TOKENS = 40;

/**
 * Joins two windows that share audio: words recognised in both stay in the first one. The
 * longest run of equal words decides where; without one, the middle of the overlap does,
 * if the words have times. Otherwise both stay: a doubled word is better than a lost one.
 * @param from seconds from the start of the audio, as `to`: what they share
 */
export function joinOverlap(
  before: WindowText,
  after: WindowText,
  from: number,
  to: number,
): void {
  const tail = tokensOf(before, ({ end }) => end > from - SLACK_S).slice(-MOST_TOKENS);
  const head = tokensOf(after, ({ start }) => start < to + SLACK_S).slice(0, MOST_TOKENS);
  const run = longestRun(tail, head);
  if (run !== undefined) {
    keepUntil(before, tail[run.inTail + run.length - 1]!);
    keepFrom(after, head[run.inHead + run.length - 1]!);
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

const UNSPACED =
  /([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])/u;

/** Words; single characters in scripts without spaces. */
const tokens = (text: string): string[] =>
  text
    .split(/\s+/)
    .flatMap(word => word.split(UNSPACED))
    .filter(word => word !== '');

const spellingOf = (word: string): string =>
  word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

interface Run {
  readonly inTail: number;
  readonly inHead: number;
  readonly length: number;
}

/** Of equally long runs the last in the tail; a single short word does not count. */
function longestRun(tail: readonly Token[], head: readonly Token[]): Run | undefined {
  let best: Run | undefined;
  for (let inTail = 0; inTail < tail.length; inTail += 1) {
    for (let inHead = 0; inHead < head.length; inHead += 1) {
      let length = 0;
      while (isSame(tail[inTail + length], head[inHead + length])) length += 1;
      if (length > 0 && length >= (best?.length ?? 0)) best = { inTail, inHead, length };
    }
  }
  return best !== undefined && (best.length > 1 || tail[best.inTail]!.spelling.length > 3)
    ? best
    : undefined;
}

const isSame = (one: Token | undefined, other: Token | undefined): boolean =>
  one !== undefined && one.spelling !== '' && one.spelling === other?.spelling;

function keepUntil(text: WindowText, { segment: last, place }: Token): void {
  const kept = text.segments.slice(0, last + 1);
  kept[last] = part(kept[last]!, 0, place + 1);
  keep(text, kept, 'end', kept[last].end);
}

function keepFrom(text: WindowText, { segment: first, place }: Token): void {
  const kept = text.segments.slice(first);
  const length = tokens(kept[0]!.text).length;
  kept[0] = part(kept[0]!, place + 1, length);
  const left = place + 1 < length ? kept : kept.slice(1);
  keep(text, left, 'start', kept[0].start);
}

/** The tokens `from` to `to` of a segment, with its time in proportion. */
function part(segment: RecognizedSegment, from: number, to: number): RecognizedSegment {
  const all = tokens(segment.text);
  if (from === 0 && to >= all.length) return segment;
  const { start, end } = segment;
  const at = (place: number): number => start + ((end - start) * place) / all.length;
  const { tokens: _ids, ...rest } = segment;
  return { ...rest, text: joinedText(all.slice(from, to)), start: at(from), end: at(to) };
}

/** Leaves these segments and their words. @param time of the edge at which it was cut */
function keep(
  text: WindowText,
  segments: RecognizedSegment[],
  edge: 'start' | 'end',
  time: number,
): void {
  const all = countOf(text.segments);
  const count = countOf(segments);
  const isEnd = edge === 'end';
  // As many words as tokens: then they are the same, one by one. Else the times decide.
  text.words =
    text.words.length === all
      ? text.words.slice(isEnd ? 0 : all - count, isEnd ? count : all)
      : text.words.filter(word =>
          isEnd ? middleOf(word) <= time : middleOf(word) >= time,
        );
  text.segments = segments;
  if (text.words.length !== count || count === 0) return;
  // The exact time of the edge, which the words have.
  const at = isEnd ? -1 : 0;
  const exact = { ...segments.at(at)!, [edge]: text.words.at(at)![edge] };
  text.segments = segments.with(at, exact);
}

const middleOf = ({ start, end }: TranscriptWord): number => (start + end) / 2;

/** Only windows whose words and tokens are the same, one by one. */
function splitAt(time: number, before: WindowText, after: WindowText): void {
  for (const text of [before, after]) {
    if (text.words.length !== countOf(text.segments)) continue;
    const count = text.words.filter(word => middleOf(word) < time).length;
    const last = tokensOf(text, () => true)[count - 1];
    if (text === after) {
      if (last) keepFrom(text, last);
    } else if (!last) Object.assign(text, { segments: [], words: [] });
    else if (count < text.words.length) keepUntil(text, last);
  }
}

const countOf = (segments: readonly RecognizedSegment[]): number =>
  segments.reduce((sum, { text }) => sum + tokens(text).length, 0);
