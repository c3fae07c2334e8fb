import { both, anyOf, named, type Phrase, type Read, type Token } from './token.js';
import {
  DIGITS,
  isNumeric,
  ORDINALS,
  SCALES,
  TEENS,
  TENS,
  UNITS,
  ZERO_LETTERS,
} from './vocabulary.js';

/** 1..99 */
export const belowHundred = anyOf(
  both(named(TENS), named(UNITS), (tens, unit) => tens + unit),
  named(new Map([...UNITS, ...TEENS, ...TENS])),
);

/** Two groups without "hundred": years, clock times, three-digit numbers. */
export interface NumberPair {
  /** 1..20 */
  readonly high: number;
  /** 1..99 */
  readonly low: number;
}

const twoDigits: Phrase<number> = first => {
  const low = belowHundred(first);
  return low && low.value >= 10 ? low : undefined;
};

/** "nineteen ninety nine", "nineteen oh five", "seven forty seven". */
export const parsePair: Phrase<NumberPair> = both(
  named(new Map([...UNITS, ...TEENS, ['twenty', 20]])),
  anyOf(
    both(named(ZERO_LETTERS), named(UNITS), (_zero, unit) => unit),
    twoDigits,
  ),
  (high, low) => ({ high, low }),
);

/** `1905`, `9:05` */
export const pairText = ({ high, low }: NumberPair, between = ''): string =>
  `${high}${between}${String(low).padStart(2, '0')}`;

/**
 * No number before or after it, and not two steps of counting ("nineteen twenty"): then a
 * pair is one number.
 */
export function isolated(first: Token, { value, last }: Read<NumberPair>): boolean {
  if (value.low === value.high + 1 && last.previous.word === first.word) return false;
  const { word } = last.next;
  if (DURATIONS.has(word)) return false; // "two ten minute breaks"
  return !isNumeric(first.previous.word) && !isNumeric(word) && !ORDINALS.has(word);
}

const DURATIONS = new Set(['second', 'minute', 'hour', 'day', 'week', 'month', 'year']);

/**
 * The longest cardinal that begins with `first`: "two hundred and five thousand", "nineteen
 * hundred", "a hundred and one". Scales must fall, so "one hundred two hundred" and "one
 * thousand two thousand" are two numbers each.
 */
export const parseCardinal: Phrase<number> = first => {
  if (first.word === 'zero') return { value: 0, last: first };
  let read = scaled(firstGroup(first), Infinity);
  for (;;) {
    const scale = read && SCALES.get(read.last.word);
    const next = scale && scaled(laterGroup(read!.last.next), scale);
    if (!next) return read;
    read = { value: read!.value + next.value, last: next.last };
  }
};

/**
 * "a hundred", "a million": an idiom ("thanks a million") unless something follows that
 * makes it a measure.
 */
export const isArticleOne = ({ word, next, previous }: Token): boolean =>
  word === 'a' && isScale(next.word) && previous.word !== 'half';

/** Whether a word multiplies the number before it: "hundred", "thousand" and larger. */
export const isScale = (word: string): boolean => word === 'hundred' || SCALES.has(word);

/** The group times the scale word after it, if the product is below `limit`. */
function scaled(group: Read<number> | undefined, limit: number): Read<number> | undefined {
  if (!group) return undefined;
  const { next } = group.last;
  // Below a thousand of each scale every sum is exact.
  const scale = group.value < 1000 ? SCALES.get(next.word) : undefined;
  const value = group.value * (scale ?? 1);
  if (value >= limit) return undefined;
  return { value, last: scale === undefined ? group.last : next };
}

const firstGroup: Phrase<number> = first => {
  const head = isArticleOne(first) ? { value: 1, last: first } : belowHundred(first);
  return head && withHundreds(head);
};

/**
 * After a scale. "two thousand and three hundred" are two numbers: 2300 is never spoken
 * with "and" there.
 */
const laterGroup: Phrase<number> = first => {
  const head = belowHundred(behindAnd(first));
  const group = head && withHundreds(head);
  if (!group || first.word !== 'and' || group.value < 100) return group;
  return SCALES.has(group.last.next.word) ? group : undefined;
};

function withHundreds(head: Read<number>): Read<number> {
  const last = head.last.next;
  if (last.word !== 'hundred') return head;
  const value = head.value * 100;
  const tail = belowHundred(behindAnd(last.next));
  if (!tail || tail.last.next.word === 'hundred' || startsDigits(tail)) return { value, last };
  return { value: value + tail.value, last: tail.last };
}

/** What is read at `token`: an "and" there is passed over. */
export const behindAnd = (token: Token): Token => (token.word === 'and' ? token.next : token);

/** "eight hundred five five five": the area code is over. */
const startsDigits = ({ value, last }: Read<number>): boolean =>
  value < 10 && DIGITS.has(last.next.word);
