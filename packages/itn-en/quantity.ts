import { isArticleOne, isolated, pairText, parseCardinal, parsePair } from './cardinal.js';
import { parseDigitRun } from './digit-run.js';
import { type Read, said, type Token } from './token.js';
import { CURRENCIES, isDegree, isNumeric, SCALES, UNITS_OF_MEASURE } from './vocabulary.js';

export interface Quantity {
  /** `-` or nothing. */
  readonly sign: string;
  /** Whole part: `12,500`, `1984`. */
  readonly whole: string;
  /** Digits after the point; empty when there are none. */
  readonly decimals: string;
  /** ` million` and so on, or nothing. */
  readonly scale: string;
  readonly last: Token;
  /**
   * Absolute value of the whole part, scale included: small ones stay words when
   * they stand alone.
   */
  readonly value: number;
  /** Said as "a hundred", "a million". */
  readonly article: boolean;
}

/** Defaults of the parts that most quantities do not have. */
const PLAIN = { sign: '', decimals: '', scale: '', article: false } as const;

export const quantityText = ({ sign, whole, decimals, scale }: Quantity): string =>
  `${sign}${whole}${decimals && `.${decimals}`}${scale}`;

/**
 * A number as it stands before a unit: signed, decimal, in words such as "two and
 * a half million".
 */
export function parseQuantity(first: Token): Quantity | undefined {
  const negative = isSign(first);
  const from = negative ? first.next : first;
  const whole = pairNumber(from) ?? cardinalNumber(from);
  if (!whole) return undefined;
  const fractional = whole.scale === '' ? withDecimals(from, whole) : whole;
  return {
    ...fractional,
    sign: negative ? '-' : '',
    article: isArticleOne(from),
  };
}

/**
 * A number with its unit, or a span of two: "twenty to thirty dollars". One span only, so
 * that a long row of numbers is not read again and again.
 * @param before the first number of the span, beside the second one
 */
export function writeWithUnit(
  first: Token,
  amount: (quantity: Quantity) => Read<string> | undefined,
  before: (quantity: Quantity, second: Quantity) => string | undefined,
): Read<string> | undefined {
  const quantity = parseQuantity(first) ?? parsePointQuantity(first);
  const written = quantity && amount(quantity);
  if (!quantity || written) return written;
  const second = secondOfSpan(quantity);
  const end = second && amount(second);
  const begin = end && before(quantity, second);
  if (end === undefined || begin === undefined) return undefined;
  return { ...end, value: `${begin} ${quantity.last.next.spoken} ${end.value}` };
}

/** "two to three million dollars", "five or six percent": the second number of a span. */
function secondOfSpan({ last, value }: Quantity): Quantity | undefined {
  const link = last.next;
  if (link.word !== 'to' && link.word !== 'or') return undefined;
  const second = parseQuantity(link.next);
  // "five or six hundred dollars": number.ts
  const sharesScale = second?.scale === '' && value < 100 && second.value >= 100;
  return sharesScale || second?.article ? undefined : second;
}

/**
 * "point five", which is a number only before a unit; "at this point five
 * percent" is none.
 */
function parsePointQuantity({ word, next, previous }: Token): Quantity | undefined {
  if (word !== 'point' || POINT_AS_NOUN.has(previous.word) || isNumeric(previous.word))
    return undefined;
  const run = parseDigitRun(next);
  return run && { ...PLAIN, whole: '0', decimals: run.value, last: run.last, value: 0 };
}

const POINT_AS_NOUN = new Set(
  'this that the a an some every each which what my your his her its at no'.split(' '),
);

/** "ten minus five" is arithmetic, and its words say so. */
const isSign = ({ word, next, previous }: Token): boolean =>
  (word === 'minus' || word === 'negative') && next.word !== '' && !isNumeric(previous.word);

function pairNumber(first: Token): Quantity | undefined {
  const pair = parsePair(first);
  if (!pair || !isolated(first, pair)) return undefined;
  const whole = pairText(pair.value);
  return { ...PLAIN, whole, last: pair.last, value: Number(whole) };
}

function cardinalNumber(first: Token): Quantity | undefined {
  const cardinal = parseCardinal(first);
  if (!cardinal) return undefined;
  const { value } = cardinal;
  const [name, size] = [...SCALES].filter(([, scale]) => scale >= 1e6 && scale <= value).at(-1) ?? [
    '',
    1,
  ];
  const scaled = name !== '' && value % size === 0;
  return {
    ...PLAIN,
    ...cardinal,
    whole: grouped(scaled ? value / size : value),
    scale: scaled ? ` ${name}` : '',
  };
}

/** Four digits stand together, as years do; from five on commas help. */
const grouped = (value: number): string =>
  value >= 10_000 ? value.toLocaleString('en-US') : String(value);

function withDecimals(first: Token, whole: Quantity): Quantity {
  const spoken = pointDecimals(first, whole) ?? andAHalf(whole);
  if (!spoken) return whole;
  const last = spoken.last.next;
  const scale = SCALES.get(last.word);
  return scale === undefined
    ? spoken
    : { ...spoken, scale: ` ${last.word}`, last, value: whole.value * scale };
}

function pointDecimals(first: Token, whole: Quantity): Quantity | undefined {
  const point = whole.last.next;
  if (point.word !== 'point') return undefined;
  // "at one point two people left"
  if (whole.value === 1 && first.previous.word === 'at') return undefined;
  const run = parseDigitRun(point.next);
  if (run) return { ...whole, decimals: run.value, last: run.last };
  const group = parseCardinal(point.next); // "three point fourteen"
  return group && group.value < 100
    ? { ...whole, decimals: String(group.value), last: group.last }
    : undefined;
}

/** Words in which "and a half" before them becomes ".5". */
const isUnitWord = (word: string): boolean =>
  word === 'percent' || isDegree(word) || CURRENCIES.has(word) || UNITS_OF_MEASURE.has(word);

const AND_A_HALF = said('5', 'and a half');

/** Only before a unit or a scale: "two and a half hours" reads well as it is. */
function andAHalf(whole: Quantity): Quantity | undefined {
  const half = AND_A_HALF(whole.last.next);
  if (!half) return undefined;
  const { value: decimals, last } = half;
  const { word } = last.next;
  return SCALES.has(word) || isUnitWord(word) ? { ...whole, decimals, last } : undefined;
}
