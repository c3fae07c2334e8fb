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
    options.push(between(first, last));
  }
  return oneOf(options);
}

/**
 * A point and digits behind it, at most as many as `least` and `most` have, whose
 * value lies between the two. Where nothing behind the point is possible as well, it
 * may be left out.
 */
export function fractionBetween(least: string, most: string): string {
  if (least.length === 0) return '';
  const digits = isAll(least, '0') ? atMost(most) : inside(least, most);
  return isAll(least, '0') ? `("." ${digits})?` : `"." ${digits}`;
}

/** Of the same length. */
function between(first: string, last: string): string {
  if (first === last) return `"${first}"`;
  if (isAll(first.slice(1), '0') && isAll(last.slice(1), '9'))
    return digit(first[0]!, last[0]!) + some(first.length - 1, first.length - 1);
  return split(first, last, {
    low: rest => between(rest, '9'.repeat(rest.length)),
    high: rest => between('0'.repeat(rest.length), rest),
    both: between,
    middle: count => some(count, count),
  });
}

/** Digits of a fraction from `least`, which is not 0. */
function inside(least: string, most: string): string {
  if (isAll(most, '9')) return atLeast(least);
  return split(least, most, {
    low: atLeast,
    high: mayEnd,
    both: inside,
    middle: count => some(0, count),
  });
}

function atLeast(least: string): string {
  if (isAll(least, '0')) return some(0, least.length);
  const [first, rest] = [least[0]!, least.slice(1)];
  const equal = `"${first}" ${atLeast(rest)}`;
  return first === '9'
    ? equal
    : oneOf([equal, digit(next(first), '9') + some(0, rest.length)]);
}

/** At least one digit. */
function atMost(most: string): string {
  const [first, rest] = [most[0]!, most.slice(1)];
  if (isAll(most, '9')) return digit('0', '9') + some(0, rest.length);
  const equal = `"${first}" ${mayEnd(rest)}`;
  return first === '0'
    ? equal
    : oneOf([digit('0', before(first)) + some(0, rest.length), equal]);
}

const mayEnd = (most: string): string => (most === '' ? '' : `(${atMost(most)})?`);

interface Parts {
  low(rest: string): string;
  high(rest: string): string;
  both(first: string, last: string): string;
  middle(count: number): string;
}

function split(first: string, last: string, parts: Parts): string {
  const [low, high, lowRest, highRest] = [
    first[0]!,
    last[0]!,
    first.slice(1),
    last.slice(1),
  ];
  if (low === high)
    return `"${low}" ${lowRest === '' ? '' : parts.both(lowRest, highRest)}`;
  const options = [`"${low}" ${lowRest === '' ? '' : parts.low(lowRest)}`];
  if (next(low) <= before(high))
    options.push(digit(next(low), before(high)) + parts.middle(lowRest.length));
  options.push(`"${high}" ${highRest === '' ? '' : parts.high(highRest)}`);
  return oneOf(options);
}

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
