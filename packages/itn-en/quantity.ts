import {
  isArticleOne,
  isolated,
  pairText,
  parseCardinal,
  parsePair,
} from './cardinal.js';
import { parseDigitRun } from './digit-run.js';
import { continued, continuesWith, type Tokens, wordBefore } from './token.js';
import { isNumeric, isUnitWord, SCALES } from './vocabulary.js';

export interface Quantity {
  /** `-` or nothing. */
  readonly sign: string;
  /** Whole part: `12,500`, `1984`. */
  readonly whole: string;
  /** Digits after the point; empty when there are none. */
  readonly decimals: string;
  /** ` million` and so on, or nothing. */
  readonly scale: string;
  readonly end: number;
  /**
   * Absolute value of the whole part, scale included: small ones stay words when
   * they stand alone.
   */
  readonly value: number;
  /** Said as "a hundred", "a million". */
  readonly article: boolean;
}

export const quantityText = ({ sign, whole, decimals, scale }: Quantity): string =>
  `${sign}${whole}${decimals && `.${decimals}`}${scale}`;

/**
 * A number as it stands before a unit: signed, decimal, in words such as "two and
 * a half million".
 */
export function parseQuantity(tokens: Tokens, at: number): Quantity | undefined {
  const negative = isSign(tokens, at);
  const from = negative ? at + 1 : at;
  const whole = pairNumber(tokens, from) ?? cardinalNumber(tokens, from);
  if (!whole) return undefined;
  const fractional = whole.scale === '' ? withDecimals(tokens, from, whole) : whole;
  return {
    ...fractional,
    sign: negative ? '-' : '',
    article: isArticleOne(tokens, from),
  };
}

/** "two to three million dollars", "five or six percent": the second number of a span. */
export function secondOfSpan(
  tokens: Tokens,
  { end, value }: Quantity,
): Quantity | undefined {
  const link = continued(tokens, end);
  if ((link !== 'to' && link !== 'or') || continued(tokens, end + 1) === '')
    return undefined;
  const second = parseQuantity(tokens, end + 1);
  // "five or six hundred dollars": number.ts
  const sharesScale = second?.scale === '' && value < 100 && second.value >= 100;
  return sharesScale || second?.article ? undefined : second;
}

/**
 * "point five", which is a number only before a unit; "at this point five
 * percent" is none.
 */
export function parsePointQuantity(tokens: Tokens, at: number): Quantity | undefined {
  const before = wordBefore(tokens, at);
  if (tokens[at]?.word !== 'point' || POINT_AS_NOUN.has(before) || isNumeric(before))
    return undefined;
  const run =
    continued(tokens, at + 1) === '' ? undefined : parseDigitRun(tokens, at + 1);
  if (!run) return undefined;
  return {
    sign: '',
    whole: '0',
    decimals: run.digits,
    scale: '',
    end: run.end,
    value: 0,
    article: false,
  };
}

const POINT_AS_NOUN = new Set(
  'this that the a an some every each which what my your his her its at no'.split(' '),
);

type Magnitude = Omit<Quantity, 'sign' | 'article'>;

/** "ten minus five" is arithmetic, and its words say so. */
function isSign(tokens: Tokens, at: number): boolean {
  const signs = tokens[at]?.word === 'minus' || tokens[at]?.word === 'negative';
  return signs && continued(tokens, at + 1) !== '' && !isNumeric(wordBefore(tokens, at));
}

function pairNumber(tokens: Tokens, at: number): Magnitude | undefined {
  const pair = parsePair(tokens, at);
  if (!pair || !isolated(tokens, at, pair)) return undefined;
  return {
    whole: pairText(pair),
    decimals: '',
    scale: '',
    end: pair.end,
    value: pair.high * 100 + pair.low,
  };
}

function cardinalNumber(tokens: Tokens, at: number): Magnitude | undefined {
  const cardinal = parseCardinal(tokens, at);
  if (!cardinal) return undefined;
  const { value, end } = cardinal;
  const largest = [...SCALES]
    .filter(([, scale]) => scale >= 1e6 && scale <= value)
    .at(-1) ?? ['', 1];
  const [name, size] = value % largest[1] === 0 ? largest : ['', 1];
  return {
    whole: grouped(value / size),
    decimals: '',
    scale: name && ` ${name}`,
    end,
    value,
  };
}

/** Four digits stand together, as years do; from five on commas help. */
const grouped = (value: number): string =>
  value >= 10_000 ? value.toLocaleString('en-US') : String(value);

function withDecimals(tokens: Tokens, at: number, whole: Magnitude): Magnitude {
  const spoken = pointDecimals(tokens, at, whole) ?? andAHalf(tokens, whole);
  if (!spoken) return whole;
  const scale = continued(tokens, spoken.end);
  return SCALES.has(scale)
    ? {
        ...spoken,
        scale: ` ${scale}`,
        end: spoken.end + 1,
        value: whole.value * (SCALES.get(scale) ?? 1),
      }
    : spoken;
}

function pointDecimals(
  tokens: Tokens,
  at: number,
  whole: Magnitude,
): Magnitude | undefined {
  if (continued(tokens, whole.end) !== 'point' || continued(tokens, whole.end + 1) === '')
    return undefined;
  if (whole.value === 1 && wordBefore(tokens, at) === 'at') return undefined; // "at one point two people left"
  const from = whole.end + 1;
  const run = parseDigitRun(tokens, from);
  if (run) return { ...whole, decimals: run.digits, end: run.end };
  const group = parseCardinal(tokens, from); // "three point fourteen"
  return group && group.value < 100
    ? { ...whole, decimals: String(group.value), end: group.end }
    : undefined;
}

/** Only before a unit or a scale: "two and a half hours" reads well as it is. */
function andAHalf(tokens: Tokens, whole: Magnitude): Magnitude | undefined {
  const end = continuesWith(tokens, whole.end, ['and', 'a', 'half']);
  if (end === undefined) return undefined;
  const next = continued(tokens, end);
  return SCALES.has(next) || isUnitWord(next)
    ? { ...whole, decimals: '5', end }
    : undefined;
}
