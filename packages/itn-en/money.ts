import { parseCardinal } from './cardinal.js';
import { CURRENCIES } from './vocabulary.js';
import {
  parsePointQuantity,
  parseQuantity,
  type Quantity,
  secondOfSpan,
} from './quantity.js';
import { continued, type Tokens, type Written } from './token.js';

const CENTS = new Set(['cent', 'cents']);
const PENCE = new Set(['penny', 'pence']);

/**
 * "five dollars and twenty cents" → $5.20, "two million euros" → €2 million, "ten pounds
 * sterling" → £10
 */
export function writeMoney(tokens: Tokens, at: number): Written | undefined {
  const quantity = parseQuantity(tokens, at) ?? parsePointQuantity(tokens, at);
  return quantity && (writeAmount(tokens, quantity) ?? writeSpan(tokens, quantity));
}

/**
 * "twenty to thirty dollars" → $20 to $30. One span only, so that a long row of numbers
 * is not read again and again.
 */
function writeSpan(tokens: Tokens, first: Quantity): Written | undefined {
  const second = secondOfSpan(tokens, first);
  const last = second && writeAmount(tokens, second);
  const symbol = last && CURRENCIES.get(continued(tokens, second.end));
  if (!symbol) return undefined;
  return {
    ...last,
    text: `${amount(symbol, first)} ${tokens[first.end]?.spoken ?? ''} ${last.text}`,
  };
}

function writeAmount(tokens: Tokens, quantity: Quantity): Written | undefined {
  const unit = continued(tokens, quantity.end);
  if (unit === 'pound' || unit === 'pounds') return writePounds(tokens, quantity);
  const symbol = CURRENCIES.get(unit);
  if (symbol === undefined) return undefined;
  const cents = parseCents(tokens, quantity, CENTS);
  const text = amount(symbol, { ...quantity, ...cents });
  // "a hundred dollar bill" keeps its article: "a $100 bill".
  return {
    text: quantity.article && unit === 'dollar' ? `a ${text}` : text,
    end: cents?.end ?? quantity.end + 1,
  };
}

function writePounds(tokens: Tokens, quantity: Quantity): Written | undefined {
  const pence = parseCents(tokens, quantity, PENCE);
  if (pence) return { text: amount('£', { ...quantity, ...pence }), end: pence.end };
  const sterling = continued(tokens, quantity.end + 1) === 'sterling';
  return sterling ? { text: amount('£', quantity), end: quantity.end + 2 } : undefined;
}

function parseCents(
  tokens: Tokens,
  { end, decimals, scale }: Quantity,
  names: ReadonlySet<string>,
): Pick<Quantity, 'decimals' | 'end'> | undefined {
  if (decimals !== '' || scale !== '') return undefined;
  const from = continued(tokens, end + 1) === 'and' ? end + 2 : end + 1;
  const cents = continued(tokens, from) === '' ? undefined : parseCardinal(tokens, from);
  if (!cents || cents.value >= 100) return undefined;
  const digits = String(cents.value).padStart(2, '0');
  const next = continued(tokens, cents.end);
  if (names.has(next)) return { decimals: digits, end: cents.end + 1 };
  // "two dollars fifty", and nothing more.
  return next === '' && from === end + 1 && cents.value >= 10
    ? { decimals: digits, end: cents.end }
    : undefined;
}

function amount(symbol: string, { sign, whole, decimals, scale }: Quantity): string {
  const digits = scale === '' && decimals.length === 1 ? `${decimals}0` : decimals;
  return `${sign}${symbol}${whole}${digits && `.${digits}`}${scale}`;
}
