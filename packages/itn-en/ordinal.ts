import { behindAnd, parseCardinal } from './cardinal.js';
import { isNumeric, ORDINAL_UNITS, ORDINALS, SCALE_ORDINALS } from './vocabulary.js';
import { type Token, type Written } from './token.js';

/** "first", "twenty first", "one hundred and third", "two thousandth". */
export function parseOrdinal(
  first: Token,
): { readonly value: number; readonly last: Token } | undefined {
  const alone = ORDINALS.get(first.word);
  if (alone !== undefined) return { value: alone, last: first };
  const cardinal = parseCardinal(first);
  if (!cardinal) return undefined;
  const { value, open } = cardinal;
  const { next } = cardinal.last;
  const scale = SCALE_ORDINALS.get(next.word);
  if (scale !== undefined && value > 0 && value < 1000)
    return { value: value * scale, last: next };
  if (open === 'none') return undefined;
  const last = open === 'tens' ? behindAnd(next) : next;
  const added = (open === 'tens' ? ORDINALS : ORDINAL_UNITS).get(last.word);
  return added === undefined ? undefined : { value: value + added, last };
}

/** Below ten they stay words: "second" and "third" are more than numbers. */
export function writeOrdinal(first: Token): Written | undefined {
  const ordinal = parseOrdinal(first);
  if (!ordinal || ordinal.value < 10) return undefined;
  const { value, last } = ordinal;
  const before = first.previous.word;
  if (isDuration(before, last) || isFraction(before, last)) return undefined;
  return { text: ordinalText(value), last };
}

/** 21 → "21st" */
export function ordinalText(value: number): string {
  const teen = value % 100 >= 11 && value % 100 <= 13;
  const suffix = teen ? 'th' : (['th', 'st', 'nd', 'rd'][value % 10] ?? 'th');
  return `${value >= 10_000 ? value.toLocaleString('en-US') : value}${suffix}`;
}

/** "a twenty second delay" is a matter of seconds. */
const isDuration = (before: string, { word }: Token): boolean =>
  word === 'second' && ['a', 'every', 'each', 'per', 'another'].includes(before);

/** "one tenth", "a tenth of it", "one hundredth of a second". */
function isFraction(before: string, { word, next }: Token): boolean {
  if (SCALE_ORDINALS.has(word)) return next.word === 'of';
  return isNumeric(before) || (before === 'a' && next.word === 'of');
}
