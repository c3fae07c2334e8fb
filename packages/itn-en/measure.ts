import { isDegree, LENGTH_SYMBOLS, UNITS_OF_MEASURE } from './vocabulary.js';
import {
  parsePointQuantity,
  parseQuantity,
  type Quantity,
  quantityText,
  secondOfSpan,
} from './quantity.js';
import { continued, continuesWith, type Tokens, type Written } from './token.js';

/**
 * "fifty percent" → 50%, "five kilometers" → 5 km, "sixty miles per hour" → 60 mph,
 * "minus two degrees" → -2°
 */
export function writeMeasure(tokens: Tokens, at: number): Written | undefined {
  const quantity = parseQuantity(tokens, at) ?? parsePointQuantity(tokens, at);
  return quantity && (writeAmount(tokens, quantity) ?? writeSpan(tokens, quantity));
}

/** "two to three kilometers" → 2 to 3 km. One span only, as with money. */
function writeSpan(tokens: Tokens, first: Quantity): Written | undefined {
  const second = secondOfSpan(tokens, first);
  const last = second && writeAmount(tokens, second);
  return (
    last && {
      ...last,
      text: `${quantityText(first)} ${tokens[first.end]?.spoken ?? ''} ${last.text}`,
    }
  );
}

function writeAmount(tokens: Tokens, quantity: Quantity): Written | undefined {
  const { end } = quantity;
  const unit =
    percent(tokens, end) ??
    degrees(tokens, end) ??
    milesPerHour(tokens, end) ??
    symbol(tokens, end);
  if (!unit) return undefined;
  const text = `${quantityText(quantity)}${unit.text}`;
  return { text: keepsArticle(tokens, quantity) ? `a ${text}` : text, end: unit.end };
}

/**
 * "a hundred meter race": the singular belongs to a noun that follows, and so
 * does the article.
 */
function keepsArticle(tokens: Tokens, { article, end }: Quantity): boolean {
  const unit = continued(tokens, end);
  return (
    article && (unit === 'degree' || (UNITS_OF_MEASURE.has(unit) && !unit.endsWith('s')))
  );
}

function percent(tokens: Tokens, at: number): Written | undefined {
  const end =
    continuesWith(tokens, at, ['percent']) ?? continuesWith(tokens, at, ['per', 'cent']);
  return end === undefined ? undefined : { text: '%', end };
}

/** "six degrees of separation" are none. */
function degrees(tokens: Tokens, at: number): Written | undefined {
  if (!isDegree(continued(tokens, at))) return undefined;
  const scale = continued(tokens, at + 1);
  if (scale === 'celsius' || scale === 'centigrade') return { text: ' °C', end: at + 2 };
  if (scale === 'fahrenheit') return { text: ' °F', end: at + 2 };
  return scale === 'of' ? undefined : { text: '°', end: at + 1 };
}

function milesPerHour(tokens: Tokens, at: number): Written | undefined {
  const end =
    continuesWith(tokens, at, ['miles', 'per', 'hour']) ??
    continuesWith(tokens, at, ['miles', 'an', 'hour']);
  return end === undefined ? undefined : { text: ' mph', end };
}

function symbol(tokens: Tokens, at: number): Written | undefined {
  const power = POWERS.get(continued(tokens, at)) ?? '';
  const name = power === '' ? at : at + 1;
  const unit = UNITS_OF_MEASURE.get(continued(tokens, name));
  if (unit === undefined || (power !== '' && !LENGTH_SYMBOLS.has(unit))) return undefined;
  const time =
    continued(tokens, name + 1) === 'per'
      ? RATES.get(continued(tokens, name + 2))
      : undefined;
  return {
    text: ` ${unit}${power}${time ?? ''}`,
    end: name + (time === undefined ? 1 : 3),
  };
}

const POWERS: ReadonlyMap<string, string> = new Map([
  ['square', '²'],
  ['cubic', '³'],
]);
const RATES: ReadonlyMap<string, string> = new Map([
  ['hour', '/h'],
  ['second', '/s'],
  ['minute', '/min'],
]);
