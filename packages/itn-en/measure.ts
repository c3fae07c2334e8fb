import { type Quantity, quantityText, writeWithUnit } from './quantity.js';
import { both, anyOf, named, type Phrase, type Read, said } from './token.js';
import { UNITS_OF_MEASURE } from './vocabulary.js';

/**
 * "fifty percent" → 50%, "five kilometers" → 5 km, "sixty miles per hour" → 60 mph,
 * "minus two degrees" → -2°, "two to three kilometers" → 2 to 3 km
 */
export const writeMeasure: Phrase<string> = first =>
  writeWithUnit(first, writeAmount, quantityText);

function writeAmount(quantity: Quantity): Read<string> | undefined {
  const unit = unitOf(quantity.last.next);
  if (!unit) return undefined;
  const text = `${quantityText(quantity)}${unit.value}`;
  return { value: keepsArticle(quantity) ? `a ${text}` : text, last: unit.last };
}

/**
 * "a hundred meter race": the singular belongs to a noun that follows, and so
 * does the article.
 */
function keepsArticle({ article, last }: Quantity): boolean {
  const unit = last.next.word;
  return article && (unit === 'degree' || (UNITS_OF_MEASURE.has(unit) && !unit.endsWith('s')));
}

const degree = said('°', 'degree', 'degrees');

const degrees = anyOf(
  both(degree, said('C', 'celsius', 'centigrade'), (sign, scale) => ` ${sign}${scale}`),
  both(degree, said('F', 'fahrenheit'), (sign, scale) => ` ${sign}${scale}`),
  // "six degrees of separation" are none.
  first => (first.next.word === 'of' ? undefined : degree(first)),
);

const POWERS: ReadonlyMap<string, string> = new Map([
  ['square', '²'],
  ['cubic', '³'],
]);
/** Units whose squares and cubes are written with a raised digit. */
const LENGTH_SYMBOLS = new Set(['km', 'm', 'cm', 'mm']);
const LENGTHS = new Map([...UNITS_OF_MEASURE].filter(([, symbol]) => LENGTH_SYMBOLS.has(symbol)));

const size = anyOf(
  named(UNITS_OF_MEASURE),
  both(named(POWERS), named(LENGTHS), (power, unit) => `${unit}${power}`),
);
const rate = anyOf(said('/h', 'per hour'), said('/s', 'per second'), said('/min', 'per minute'));

const symbol: Phrase<string> = first => {
  const unit = size(first);
  const per = unit && rate(unit.last.next);
  return unit && { ...unit, ...per, value: ` ${unit.value}${per?.value ?? ''}` };
};

const unitOf = anyOf(
  said('%', 'percent', 'per cent'),
  degrees,
  said(' mph', 'miles per hour', 'miles an hour'),
  symbol,
);
