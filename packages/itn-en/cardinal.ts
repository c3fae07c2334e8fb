import { continued, type Tokens, wordBefore, type Written } from './token.js';
import {
  DECADES,
  DIGITS,
  isNumeric,
  isZeroLetter,
  ORDINALS,
  SCALES,
  TEENS,
  TENS,
  UNITS,
} from './vocabulary.js';

/** Two groups without "hundred": years, clock times, three-digit numbers. */
export interface NumberPair {
  /** 1..20 */
  readonly high: number;
  /** 1..99 */
  readonly low: number;
  readonly end: number;
}

/** "nineteen ninety nine", "nineteen oh five", "seven forty seven". */
export function parsePair(tokens: Tokens, at: number): NumberPair | undefined {
  const word = tokens[at]?.word ?? '';
  const high = UNITS.get(word) ?? TEENS.get(word) ?? (word === 'twenty' ? 20 : undefined);
  if (high === undefined) return undefined;
  const next = continued(tokens, at + 1);
  if (isZeroLetter(next)) {
    const unit = UNITS.get(continued(tokens, at + 2));
    return unit === undefined ? undefined : { high, low: unit, end: at + 3 };
  }
  const low = next === '' ? undefined : belowHundred(tokens, at + 1);
  return low && low.value >= 10 ? { high, low: low.value, end: low.end } : undefined;
}

/**
 * No number before or after it, and not two steps of counting ("nineteen twenty"): then a
 * pair is one number.
 */
export function isolated(
  tokens: Tokens,
  at: number,
  { high, low, end }: NumberPair,
): boolean {
  if (low === high + 1 && tokens[end - 2]?.word === tokens[at]?.word) return false;
  const next = continued(tokens, end);
  if (DURATIONS.has(next)) return false; // "two ten minute breaks"
  return !isNumeric(wordBefore(tokens, at)) && !isNumeric(next) && !ORDINALS.has(next);
}

const DURATIONS = new Set(['second', 'minute', 'hour', 'day', 'week', 'month', 'year']);

/** Hours of a day that half of all "ten thirty" are about. */
export const looksLikeTime = ({ high, low }: NumberPair): boolean =>
  high >= 10 && high <= 12 && low < 60;

export const pairText = ({ high, low }: NumberPair): string =>
  `${high}${String(low).padStart(2, '0')}`;

/** "nineteen eighties" → 1980s, "eighteen hundreds" → 1800s */
export function writeDecade(tokens: Tokens, at: number): Written | undefined {
  const word = tokens[at]?.word ?? '';
  const century = TEENS.get(word) ?? (word === 'twenty' ? 20 : undefined);
  const next = continued(tokens, at + 1);
  const decade = next === 'hundreds' ? '00' : DECADES.get(next);
  return century === undefined || decade === undefined
    ? undefined
    : { text: `${century}${decade}s`, end: at + 2 };
}

interface Cardinal {
  readonly value: number;
  readonly end: number;
  /**
   * What could still have followed: `units` after "twenty", `tens` after "hundred".
   * Ordinals continue from there.
   */
  readonly open: 'units' | 'tens' | 'none';
}

/**
 * The longest cardinal that starts at `at`: "two hundred and five thousand", "nineteen
 * hundred", "a hundred and one". Scales must fall, so "one hundred two hundred" and "one
 * thousand two thousand" are two numbers each.
 */
export function parseCardinal(tokens: Tokens, at: number): Cardinal | undefined {
  if (tokens[at]?.word === 'zero') return { value: 0, end: at + 1, open: 'none' };
  let read = scaled(tokens, firstGroup(tokens, at), Infinity);
  while (read && read.scale > 1) {
    const next = scaled(tokens, laterGroup(tokens, read.end), read.scale);
    if (!next) break;
    read = { ...next, value: read.value + next.value };
  }
  return read;
}

/** 1..99 */
export function belowHundred(tokens: Tokens, at: number): Cardinal | undefined {
  const word = tokens[at]?.word ?? '';
  const single = UNITS.get(word) ?? TEENS.get(word);
  if (single !== undefined) return { value: single, end: at + 1, open: 'none' };
  const tens = TENS.get(word);
  if (tens === undefined) return undefined;
  const unit = UNITS.get(continued(tokens, at + 1));
  if (unit === undefined) return { value: tens, end: at + 1, open: 'units' };
  return { value: tens + unit, end: at + 2, open: 'none' };
}

/**
 * "a hundred", "a million": an idiom ("thanks a million") unless something follows that
 * makes it a measure.
 */
export const isArticleOne = (tokens: Tokens, at: number): boolean => {
  const next = continued(tokens, at + 1);
  const numeral = next === 'hundred' || SCALES.has(next);
  return tokens[at]?.word === 'a' && numeral && wordBefore(tokens, at) !== 'half';
};

/** The group with the scale behind it, if both stay below `limit`. */
function scaled(
  tokens: Tokens,
  group: Cardinal | undefined,
  limit: number,
): (Cardinal & { readonly scale: number }) | undefined {
  if (!group) return undefined;
  // Below a thousand of each scale every sum is exact.
  const scale = (group.value < 1000 && SCALES.get(continued(tokens, group.end))) || 1;
  const value = group.value * scale;
  if (value >= limit) return undefined;
  return scale === 1
    ? { ...group, scale }
    : { value, end: group.end + 1, open: 'tens', scale };
}

function firstGroup(tokens: Tokens, at: number): Cardinal | undefined {
  const head: Cardinal | undefined = isArticleOne(tokens, at)
    ? { value: 1, end: at + 1, open: 'none' }
    : belowHundred(tokens, at);
  return head && withHundreds(tokens, head);
}

/**
 * After a scale. "two thousand and three hundred" are two numbers: 2300 is never spoken
 * with "and" there.
 */
function laterGroup(tokens: Tokens, at: number): Cardinal | undefined {
  const linked = continued(tokens, at) === 'and';
  const from = linked ? at + 1 : at;
  const head = continued(tokens, from) === '' ? undefined : belowHundred(tokens, from);
  const group = head && withHundreds(tokens, head);
  if (!group || !linked || group.value < 100) return group;
  return SCALES.has(continued(tokens, group.end)) ? group : undefined;
}

function withHundreds(tokens: Tokens, head: Cardinal): Cardinal {
  if (continued(tokens, head.end) !== 'hundred') return head;
  const value = head.value * 100;
  const end = head.end + 1;
  const from = continued(tokens, end) === 'and' ? end + 1 : end;
  const tail = continued(tokens, from) === '' ? undefined : belowHundred(tokens, from);
  if (!tail || continued(tokens, tail.end) === 'hundred' || startsDigits(tokens, tail))
    return { value, end, open: 'tens' };
  return { ...tail, value: value + tail.value };
}

/** "eight hundred five five five": the area code is over. */
const startsDigits = (tokens: Tokens, { value, end }: Cardinal): boolean =>
  value < 10 && DIGITS.has(continued(tokens, end));
