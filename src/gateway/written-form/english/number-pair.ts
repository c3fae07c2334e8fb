import { belowHundred } from './cardinal.js';
import { DECADES, isNumeric, isZeroLetter, ORDINALS, TEENS, UNITS } from './number-words.js';
import { type Written } from './rewrite.js';
import { continued, type Tokens, wordBefore } from './token.js';

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

/** No number before or after it, and not two steps of counting ("nineteen twenty"): then a pair is one number. */
export function isolated(tokens: Tokens, at: number, { high, low, end }: NumberPair): boolean {
  if (low === high + 1 && tokens[end - 2]?.word === tokens[at]?.word) return false;
  const next = continued(tokens, end);
  if (DURATIONS.has(next)) return false; // "two ten minute breaks"
  return !isNumeric(wordBefore(tokens, at)) && !isNumeric(next) && !ORDINALS.has(next);
}

const DURATIONS = new Set(['second', 'minute', 'hour', 'day', 'week', 'month', 'year']);

/** Hours of a day that half of all "ten thirty" are about. */
export const looksLikeTime = ({ high, low }: NumberPair): boolean => high >= 10 && high <= 12 && low < 60;

export const pairText = ({ high, low }: NumberPair): string => `${high}${String(low).padStart(2, '0')}`;

/** "nineteen eighties" → 1980s, "eighteen hundreds" → 1800s */
export function writeDecade(tokens: Tokens, at: number): Written | undefined {
  const word = tokens[at]?.word ?? '';
  const century = TEENS.get(word) ?? (word === 'twenty' ? 20 : undefined);
  const next = continued(tokens, at + 1);
  const decade = next === 'hundreds' ? '00' : DECADES.get(next);
  return century === undefined || decade === undefined ? undefined : { text: `${century}${decade}s`, end: at + 2 };
}
