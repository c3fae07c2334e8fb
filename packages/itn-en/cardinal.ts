import { type Token } from './token.js';
import {
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
  /** `1905` */
  readonly text: string;
  readonly last: Token;
}

/** "nineteen ninety nine", "nineteen oh five", "seven forty seven". */
export function parsePair({ word, next }: Token): NumberPair | undefined {
  const high =
    UNITS.get(word) ?? TEENS.get(word) ?? (word === 'twenty' ? 20 : undefined);
  if (high === undefined) return undefined;
  if (isZeroLetter(next.word)) {
    const unit = UNITS.get(next.next.word);
    return unit === undefined ? undefined : pairOf(high, unit, next.next);
  }
  const low = belowHundred(next);
  return low && low.value >= 10 ? pairOf(high, low.value, low.last) : undefined;
}

const pairOf = (high: number, low: number, last: Token): NumberPair => ({
  high,
  low,
  text: `${high}${String(low).padStart(2, '0')}`,
  last,
});

/**
 * No number before or after it, and not two steps of counting ("nineteen twenty"): then a
 * pair is one number.
 */
export function isolated(first: Token, { high, low, last }: NumberPair): boolean {
  if (low === high + 1 && last.previous.word === first.word) return false;
  const { word } = last.next;
  if (DURATIONS.has(word)) return false; // "two ten minute breaks"
  return !isNumeric(first.previous.word) && !isNumeric(word) && !ORDINALS.has(word);
}

const DURATIONS = new Set(['second', 'minute', 'hour', 'day', 'week', 'month', 'year']);

interface Cardinal {
  readonly value: number;
  readonly last: Token;
  /**
   * What could still have followed: `units` after "twenty", `tens` after "hundred".
   * Ordinals continue from there.
   */
  readonly open: 'units' | 'tens' | 'none';
}

/**
 * The longest cardinal that begins with `first`: "two hundred and five thousand", "nineteen
 * hundred", "a hundred and one". Scales must fall, so "one hundred two hundred" and "one
 * thousand two thousand" are two numbers each.
 */
export function parseCardinal(first: Token): Cardinal | undefined {
  if (first.word === 'zero') return { value: 0, last: first, open: 'none' };
  let read = scaled(firstGroup(first), Infinity);
  while (read && read.scale > 1) {
    const next = scaled(laterGroup(read.last.next), read.scale);
    if (!next) break;
    read = { ...next, value: read.value + next.value };
  }
  return read;
}

/** 1..99 */
export function belowHundred(first: Token): Cardinal | undefined {
  const { word, next } = first;
  const single = UNITS.get(word) ?? TEENS.get(word);
  if (single !== undefined) return { value: single, last: first, open: 'none' };
  const tens = TENS.get(word);
  if (tens === undefined) return undefined;
  const unit = UNITS.get(next.word);
  if (unit === undefined) return { value: tens, last: first, open: 'units' };
  return { value: tens + unit, last: next, open: 'none' };
}

/**
 * "a hundred", "a million": an idiom ("thanks a million") unless something follows that
 * makes it a measure.
 */
export const isArticleOne = ({ word, next, previous }: Token): boolean =>
  word === 'a' &&
  (next.word === 'hundred' || SCALES.has(next.word)) &&
  previous.word !== 'half';

/** The group with the scale behind it, if both stay below `limit`. */
function scaled(
  group: Cardinal | undefined,
  limit: number,
): (Cardinal & { readonly scale: number }) | undefined {
  if (!group) return undefined;
  // Below a thousand of each scale every sum is exact.
  const scale = (group.value < 1000 && SCALES.get(group.last.next.word)) || 1;
  const value = group.value * scale;
  if (value >= limit) return undefined;
  return scale === 1
    ? { ...group, scale }
    : { value, last: group.last.next, open: 'tens', scale };
}

function firstGroup(first: Token): Cardinal | undefined {
  const head: Cardinal | undefined = isArticleOne(first)
    ? { value: 1, last: first, open: 'none' }
    : belowHundred(first);
  return head && withHundreds(head);
}

/**
 * After a scale. "two thousand and three hundred" are two numbers: 2300 is never spoken
 * with "and" there.
 */
function laterGroup(first: Token): Cardinal | undefined {
  const head = belowHundred(behindAnd(first));
  const group = head && withHundreds(head);
  if (!group || first.word !== 'and' || group.value < 100) return group;
  return SCALES.has(group.last.next.word) ? group : undefined;
}

function withHundreds(head: Cardinal): Cardinal {
  const last = head.last.next;
  if (last.word !== 'hundred') return head;
  const value = head.value * 100;
  const tail = belowHundred(behindAnd(last.next));
  if (!tail || tail.last.next.word === 'hundred' || startsDigits(tail))
    return { value, last, open: 'tens' };
  return { ...tail, value: value + tail.value };
}

/** What is read at `token`: an "and" there is passed over. */
export const behindAnd = (token: Token): Token =>
  token.word === 'and' ? token.next : token;

/** "eight hundred five five five": the area code is over. */
const startsDigits = ({ value, last }: Cardinal): boolean =>
  value < 10 && DIGITS.has(last.next.word);
