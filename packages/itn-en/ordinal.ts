import { parseCardinal } from './cardinal.js';
import { isNumeric, ORDINAL_UNITS, ORDINALS, SCALE_ORDINALS } from './vocabulary.js';
import { continued, type Tokens, wordBefore, type Written } from './token.js';

/** "first", "twenty first", "one hundred and third", "two thousandth". */
export function parseOrdinal(
  tokens: Tokens,
  at: number,
): { readonly value: number; readonly end: number } | undefined {
  const alone = ORDINALS.get(tokens[at]?.word ?? '');
  if (alone !== undefined) return { value: alone, end: at + 1 };
  const cardinal = parseCardinal(tokens, at);
  if (!cardinal) return undefined;
  const { value, end, open } = cardinal;
  const scale = SCALE_ORDINALS.get(continued(tokens, end));
  if (scale !== undefined && value > 0 && value < 1000)
    return { value: value * scale, end: end + 1 };
  if (open === 'none') return undefined;
  const last = open === 'tens' && continued(tokens, end) === 'and' ? end + 1 : end;
  const added = (open === 'tens' ? ORDINALS : ORDINAL_UNITS).get(continued(tokens, last));
  return added === undefined ? undefined : { value: value + added, end: last + 1 };
}

/** Below ten they stay words: "second" and "third" are more than numbers. */
export function writeOrdinal(tokens: Tokens, at: number): Written | undefined {
  const ordinal = parseOrdinal(tokens, at);
  if (!ordinal || ordinal.value < 10) return undefined;
  const { value, end } = ordinal;
  if (isDuration(tokens, at, end) || isFraction(tokens, at, end)) return undefined;
  return { text: ordinalText(value), end };
}

/** 21 → "21st" */
export function ordinalText(value: number): string {
  const teen = value % 100 >= 11 && value % 100 <= 13;
  const suffix = teen ? 'th' : (['th', 'st', 'nd', 'rd'][value % 10] ?? 'th');
  return `${value >= 10_000 ? value.toLocaleString('en-US') : value}${suffix}`;
}

/** "a twenty second delay" is a matter of seconds. */
function isDuration(tokens: Tokens, at: number, end: number): boolean {
  return (
    tokens[end - 1]?.word === 'second' &&
    ['a', 'every', 'each', 'per', 'another'].includes(wordBefore(tokens, at))
  );
}

/** "one tenth", "a tenth of it", "one hundredth of a second". */
function isFraction(tokens: Tokens, at: number, end: number): boolean {
  const last = tokens[end - 1]?.word ?? '';
  if (SCALE_ORDINALS.has(last)) return continued(tokens, end) === 'of';
  const before = wordBefore(tokens, at);
  return isNumeric(before) || (before === 'a' && continued(tokens, end) === 'of');
}
