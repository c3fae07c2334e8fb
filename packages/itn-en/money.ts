import { behindAnd, parseCardinal } from './cardinal.js';
import { type Quantity, writeWithUnit } from './quantity.js';
import { type Phrase, type Read, type Token } from './token.js';
import { CURRENCIES } from './vocabulary.js';

const CENTS = new Set(['cent', 'cents']);
const PENCE = new Set(['penny', 'pence']);

/**
 * "five dollars and twenty cents" → $5.20, "two million euros" → €2 million, "ten pounds
 * sterling" → £10, "twenty to thirty dollars" → $20 to $30
 */
export const writeMoney: Phrase<string> = first =>
  writeWithUnit(first, writeAmount, (quantity, second) => {
    const symbol = CURRENCIES.get(second.last.next.word);
    return symbol && amount(symbol, quantity);
  });

function writeAmount(quantity: Quantity): Read<string> | undefined {
  const unit = quantity.last.next;
  if (unit.word === 'pound' || unit.word === 'pounds') return writePounds(quantity, unit.next);
  const symbol = CURRENCIES.get(unit.word);
  if (symbol === undefined) return undefined;
  const cents = parseCents(quantity, CENTS);
  const text = amount(symbol, { ...quantity, ...cents });
  // "a hundred dollar bill" keeps its article: "a $100 bill".
  return {
    value: quantity.article && unit.word === 'dollar' ? `a ${text}` : text,
    last: cents?.last ?? unit,
  };
}

function writePounds(quantity: Quantity, last: Token): Read<string> | undefined {
  const pence = parseCents(quantity, PENCE);
  if (pence) return { value: amount('£', { ...quantity, ...pence }), last: pence.last };
  return last.word === 'sterling' ? { value: amount('£', quantity), last } : undefined;
}

function parseCents(
  { last: { next: unit }, decimals, scale }: Quantity,
  names: ReadonlySet<string>,
): Pick<Quantity, 'decimals' | 'last'> | undefined {
  if (decimals !== '' || scale !== '') return undefined;
  const cents = parseCardinal(behindAnd(unit.next));
  if (!cents || cents.value >= 100) return undefined;
  const digits = String(cents.value).padStart(2, '0');
  const { next } = cents.last;
  if (names.has(next.word)) return { decimals: digits, last: next };
  // "two dollars fifty", and nothing more.
  return next.word === '' && unit.next.word !== 'and' && cents.value >= 10
    ? { decimals: digits, last: cents.last }
    : undefined;
}

function amount(symbol: string, { sign, whole, decimals, scale }: Quantity): string {
  const digits = scale === '' && decimals.length === 1 ? `${decimals}0` : decimals;
  return `${sign}${symbol}${whole}${digits && `.${digits}`}${scale}`;
}
