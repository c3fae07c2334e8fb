import { isDegree, UNITS_OF_MEASURE } from './vocabulary.js';
import { type Quantity, quantityText, writeWithUnit } from './quantity.js';
import { lastOf, type Token, type Written } from './token.js';

/**
 * "fifty percent" → 50%, "five kilometers" → 5 km, "sixty miles per hour" → 60 mph,
 * "minus two degrees" → -2°, "two to three kilometers" → 2 to 3 km
 */
export const writeMeasure = (first: Token): Written | undefined =>
  writeWithUnit(first, writeAmount, quantityText);

function writeAmount(quantity: Quantity): Written | undefined {
  const first = quantity.last.next;
  const unit =
    phrase(PERCENT, '%', first) ??
    degrees(first) ??
    phrase(MILES_PER_HOUR, ' mph', first) ??
    symbol(first);
  if (!unit) return undefined;
  const text = `${quantityText(quantity)}${unit.text}`;
  return { text: keepsArticle(quantity) ? `a ${text}` : text, last: unit.last };
}

/**
 * "a hundred meter race": the singular belongs to a noun that follows, and so
 * does the article.
 */
function keepsArticle({ article, last }: Quantity): boolean {
  const unit = last.next.word;
  return (
    article && (unit === 'degree' || (UNITS_OF_MEASURE.has(unit) && !unit.endsWith('s')))
  );
}

const PERCENT = [['percent'], ['per', 'cent']];
const MILES_PER_HOUR = [
  ['miles', 'per', 'hour'],
  ['miles', 'an', 'hour'],
];

function phrase(
  phrases: readonly (readonly string[])[],
  text: string,
  first: Token,
): Written | undefined {
  const [last] = phrases.flatMap(words => lastOf(words, first) ?? []);
  return last && { text, last };
}

/** "six degrees of separation" are none. */
function degrees(first: Token): Written | undefined {
  if (!isDegree(first.word)) return undefined;
  const last = first.next;
  const scale = last.word;
  if (scale === 'celsius' || scale === 'centigrade') return { text: ' °C', last };
  if (scale === 'fahrenheit') return { text: ' °F', last };
  return scale === 'of' ? undefined : { text: '°', last: first };
}

function symbol(first: Token): Written | undefined {
  const power = POWERS.get(first.word) ?? '';
  const name = power === '' ? first : first.next;
  const unit = UNITS_OF_MEASURE.get(name.word);
  if (unit === undefined || (power !== '' && !LENGTH_SYMBOLS.has(unit)))
    return undefined;
  const per = name.next;
  const time = per.word === 'per' ? RATES.get(per.next.word) : undefined;
  return {
    text: ` ${unit}${power}${time ?? ''}`,
    last: time === undefined ? name : per.next,
  };
}

/** Units whose squares and cubes are written with a raised digit. */
const LENGTH_SYMBOLS = new Set(['km', 'm', 'cm', 'mm']);
const POWERS: ReadonlyMap<string, string> = new Map([
  ['square', '²'],
  ['cubic', '³'],
]);
const RATES: ReadonlyMap<string, string> = new Map([
  ['hour', '/h'],
  ['second', '/s'],
  ['minute', '/min'],
]);
