import { either } from './grammar-rules.js';

/** A finite decimal: `units / 10^scale`. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

/** As JavaScript writes the number: the shortest decimal that reads as it. */
export function decimalOf(value: number): Decimal {
  const [digits, exponent = '0'] = String(value).split('e') as [string, string?];
  const [whole, fraction = ''] = digits.split('.') as [string, string?];
  const scale = fraction.length - Number(exponent);
  const units = BigInt(whole + fraction);
  return scale >= 0
    ? { units, scale }
    : { units: units * 10n ** BigInt(-scale), scale: 0 };
}

/** `value · 10^scale`, and what is lost by that: 0 or less than one unit. */
export function unitsAt(
  { units, scale: own }: Decimal,
  scale: number,
): { floor: bigint; isExact: boolean } {
  if (own <= scale) return { floor: units * 10n ** BigInt(scale - own), isExact: true };
  const divisor = 10n ** BigInt(own - scale);
  const rest = units % divisor;
  return { floor: units / divisor - (rest < 0n ? 1n : 0n), isExact: rest === 0n };
}

export function isMultiple(value: Decimal, step: Decimal): boolean {
  const scale = Math.max(value.scale, step.scale);
  return unitsAt(value, scale).floor % unitsAt(step, scale).floor === 0n;
}

/**
 * Digits of a whole number from `least` to `most`, without leading zeros. Both are
 * 0 or more.
 */
export function wholeBetween(least: bigint, most: bigint): string {
  const options: string[] = [];
  const [shortest, longest] = [String(least).length, String(most).length];
  for (let length = shortest; length <= longest; length += 1) {
    const first = length === shortest ? String(least) : `1${'0'.repeat(length - 1)}`;
    const last = length === longest ? String(most) : '9'.repeat(length);
    options.push(digits(first, last, false));
  }
  return oneOf(options);
}

/**
 * A point and digits behind it, at most as many as `least` and `most` have, whose
 * value lies between the two. Where nothing behind the point is possible as well, it
 * may be left out.
 */
export function fractionBetween(least: string, most: string): string {
  if (!isAll(least, '0')) return `"." ${digits(least, most, true)}`;
  if (least === '') return '';
  const behind = isAll(most, '9')
    ? some(1, most.length)
    : digits(least, most, true, true);
  return `("." ${behind})?`;
}

/**
 * Digits from `first` to `last`, which are equally long.
 * @param isFraction zeros at the end may be left out
 * @param mayEnd behind the first digit
 */
function digits(
  first: string,
  last: string,
  isFraction: boolean,
  mayEnd = false,
): string {
  const any = (count: number): string => some(isFraction ? 0 : count, count);
  if (isAll(first, '0') && isAll(last, '9')) return any(first.length);
  const [low, high] = [first[0]!, last[0]!];
  const [lowRest, highRest] = [first.slice(1), last.slice(1)];
  if (low === high)
    return begun(low, digits(lowRest, highRest, isFraction, mayEnd), mayEnd);
  const from = isAll(lowRest, '0') ? low : next(low);
  const to = isAll(highRest, '9') ? high : before(high);
  const options: string[] = [];
  if (from !== low)
    options.push(begun(low, digits(lowRest, '9'.repeat(lowRest.length), isFraction)));
  if (from <= to) options.push(digit(from, to) + any(lowRest.length));
  if (to !== high) {
    const rest = digits('0'.repeat(highRest.length), highRest, isFraction, isFraction);
    options.push(begun(high, rest, isFraction));
  }
  return oneOf(options);
}

const begun = (digit: string, rest: string, mayEnd = false): string =>
  `"${digit}" ${mayEnd && rest !== '' ? `(${rest})?` : rest}`;
const digit = (first: string, last: string): string =>
  first === last ? `"${first}"` : `[${first}-${last}]`;
const some = (least: number, most: number): string =>
  most === 0 ? '' : ` [0-9]${least === most ? `{${most}}` : `{${least},${most}}`}`;
const next = (one: string): string => String(Number(one) + 1);
const before = (one: string): string => String(Number(one) - 1);
const isAll = (digits: string, one: string): boolean =>
  [...digits].every(each => each === one);
const oneOf = (options: readonly string[]): string =>
  options.length === 1 ? options[0]! : either(options);
