import { refused } from './grammar-error.js';
import { either } from './grammar-rules.js';
import { type Schema, shown } from './schema-fields.js';
import { type StringRules } from './string-rules.js';

/** Bounds in units of the last digit, both included. */
interface Range {
  readonly least: bigint;
  readonly most: bigint;
}

/** Of an upper one the value has the other sign: both are from where numbers are allowed. */
interface Limit {
  readonly value: number;
  readonly isExcluded: boolean;
  readonly keyword: string;
}

type Limits = readonly [least: Limit | undefined, most: Limit | undefined];

/** Digits behind the point. */
const FRACTION_DIGITS = 10;
/**
 * A double tells numbers of so many digits apart; of more, one could round to a bound
 * that is excluded, or to no multiple.
 */
const EXACT_DIGITS = 15;
const MOST_VALUES = 1000;
const MOST_RESIDUES = 100;

const NUMBER_KEYWORDS = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
] as const;

/**
 * Numbers in plain decimals within the bounds, none that is not. Where a side has no
 * bound, whole numbers that are safe integers, and others with up to 15 digits
 * before the point.
 * @throws GrammarError at a bound that could not be held exactly
 */
export function numberExpression(
  schema: Schema,
  type: 'number' | 'integer',
  path: string,
  rules: StringRules,
): string {
  if (NUMBER_KEYWORDS.every(name => schema[name] === undefined)) return type;
  const limits = limitsOf(schema, path);
  const step = stepOf(schema, path);
  const scale = type === 'integer' ? 0 : (step?.scale ?? fractionDigits(limits));
  const range = rangeOf(limits, { scale, furthest: furthestOf(step, scale) }, path);
  const units = step === undefined ? 1n : wholeStep(step, scale);
  const within = (part: Range): string => rules.matching(withinPattern(part, scale), path);
  if (units === 1n) return signed(range, within);
  const values = fewMultiples(range, units);
  if (values?.length === 0)
    throw refused(
      `${path}.multipleOf`,
      `${shown(schema.multipleOf)} has no multiple in this range`,
    );
  if (values) return either(values.map(value => `"${shortText(value, scale)}"`));
  const digits = scale > 0 ? 0 : residueDigits(units);
  if (digits === 0)
    throw refused(`${path}.multipleOf`, `${shown(schema.multipleOf)} cannot be held in this range`);
  return signed(range, part => multiples(part, units, digits, within));
}

/** Where a range ends that the schema does not bound, in units of the last digit. */
function furthestOf(step: Decimal | undefined, scale: number): bigint {
  if (scale === 0) return BigInt(Number.MAX_SAFE_INTEGER);
  return largest(step ? EXACT_DIGITS : EXACT_DIGITS + scale);
}

/** Whether `value` lies within the bounds. */
export function numberAllows(schema: Schema, value: number, path: string): boolean {
  const [least, most] = limitsOf(schema, path);
  const step = stepOf(schema, path);
  return (
    isFrom(least, value) &&
    isFrom(most, -value) &&
    (step === undefined || isMultiple(decimalOf(value), step))
  );
}

const isFrom = (limit: Limit | undefined, value: number): boolean =>
  !limit || value > limit.value || (value === limit.value && !limit.isExcluded);

const limitsOf = (schema: Schema, path: string): Limits => [
  strictest(schema, path, 1, ['minimum', 'exclusiveMinimum']),
  strictest(schema, path, -1, ['maximum', 'exclusiveMaximum']),
];

function strictest(
  schema: Schema,
  path: string,
  sign: 1 | -1,
  keywords: readonly [included: string, excluded: string],
): Limit | undefined {
  const [limit] = keywords
    .filter(keyword => schema[keyword] !== undefined)
    .map(keyword => {
      const value = schema[keyword];
      if (typeof value === 'number' && Number.isFinite(value))
        return { value: sign * value, isExcluded: keyword === keywords[1], keyword };
      throw refused(`${path}.${keyword}`, `must be a number; got ${shown(value)}`);
    })
    .sort((a, b) => b.value - a.value || Number(b.isExcluded) - Number(a.isExcluded));
  return limit;
}

function stepOf(schema: Schema, path: string): Decimal | undefined {
  const step = schema.multipleOf;
  if (step === undefined) return undefined;
  if (typeof step === 'number' && step > 0 && Number.isFinite(step)) {
    const decimal = decimalOf(step);
    if (decimal.scale <= FRACTION_DIGITS) return decimal;
  }
  throw refused(
    `${path}.multipleOf`,
    `must be a number above 0 with at most ${FRACTION_DIGITS} decimal places; got ${shown(step)}`,
  );
}

/**
 * A whole number of units: 3 of `0.3` where numbers have one digit behind the point, 30
 * where they have two.
 */
const wholeStep = (step: Decimal, scale: number): bigint => {
  const { floor, isExact } = unitsAt(step, scale);
  // Of whole numbers, those that are multiples of a fraction are those of its numerator
  // in lowest terms.
  return isExact ? floor : step.units / greatestDivisor(step.units, 10n ** BigInt(step.scale));
};

const greatestDivisor = (a: bigint, b: bigint): bigint =>
  b === 0n ? a : greatestDivisor(b, a % b);

function fractionDigits(limits: Limits): number {
  const excluded = limits.flatMap(limit => (limit?.isExcluded ? [limit.value] : []));
  const whole = Math.max(1, ...excluded.map(value => String(decimalWhole(value)).length));
  return Math.max(0, Math.min(FRACTION_DIGITS, EXACT_DIGITS - whole));
}

const decimalWhole = (value: number): bigint => unitsAt(decimalOf(Math.abs(value)), 0).floor;

const largest = (digits: number): bigint => 10n ** BigInt(digits) - 1n;

function rangeOf(
  [least, most]: Limits,
  { scale, furthest }: { readonly scale: number; readonly furthest: bigint },
  path: string,
): Range {
  const from = (limit: Limit | undefined): bigint =>
    limit ? larger(-furthest, firstUnits(limit, scale)) : -furthest;
  const range = { least: from(least), most: -from(most) };
  if (range.least <= range.most) return range;
  const { keyword } = (most ?? least)!;
  const value = most ? -most.value : least!.value;
  const other = most && least ? ` and \`${least.keyword}\` ${least.value}` : '';
  throw refused(
    `${path}.${keyword}`,
    `is ${value}${other}: no number that can be written meets that`,
  );
}

function firstUnits({ value, isExcluded }: Limit, scale: number): bigint {
  const { floor, isExact } = unitsAt(decimalOf(value), scale);
  return isExact && !isExcluded ? floor : floor + 1n;
}

/** Rules for numbers below 0 and for others, apart; there is no -0. */
function signed({ least, most }: Range, of: (range: Range) => string): string {
  const options: string[] = [];
  const below = least < 0n ? of({ least: larger(1n, -most), most: -least }) : '';
  if (below !== '') options.push(`"-" ${below}`);
  if (most >= 0n) options.push(of({ least: larger(0n, least), most }));
  return either(options.filter(option => option !== ''));
}

/** A rule for numbers that are not negative. */
function withinPattern({ least, most }: Range, scale: number): string {
  const fraction = scale === 0 ? '' : `([.]\\d{1,${scale}})?`;
  const isLess = `(?!${atLeast(shortText(most + 1n, scale))}$)`;
  return `^(?=${atLeast(shortText(least, scale))}$)${isLess}(0|[1-9]\\d*)${fraction}$`;
}

/** The first digit that differs decides, where there are equally many before the point. */
function atLeast(bound: string): string {
  const { length } = bound.split('.')[0]!;
  const behind = (at: number): string => (at > length ? '\\d*' : `\\d{${length - at}}([.]\\d*)?`);
  const equallyLong = [...bound].reduceRight(
    (rest, character, at) =>
      /[.9]/.test(character)
        ? `[${character}]${rest}`
        : `([${Number(character) + 1}-9]${behind(at + 1)}|${character}${rest})`,
    behind(bound.length),
  );
  return `(\\d{${length + 1},}([.]\\d*)?|${equallyLong})`;
}

/** The number without trailing zeros after the point. */
function shortText(units: bigint, scale: number): string {
  if (units < 0n) return `-${shortText(-units, scale)}`;
  const digits = String(units).padStart(scale + 1, '0');
  const point = digits.length - scale;
  const fraction = digits.slice(point).replace(/0+$/, '');
  return digits.slice(0, point) + (fraction === '' ? '' : `.${fraction}`);
}

/** All multiples in the range; undefined when there are many. */
function fewMultiples({ least, most }: Range, step: bigint): readonly bigint[] | undefined {
  const first = least + (((-least % step) + step) % step);
  const count = first > most ? 0n : (most - first) / step + 1n;
  if (count > BigInt(MOST_VALUES)) return undefined;
  return Array.from({ length: Number(count) }, (_, at) => first + BigInt(at) * step);
}

/**
 * Last digits that decide whether a number is a multiple: 1 for 2 and 5, 2 for 25; 0: no
 * number of them does.
 */
function residueDigits(step: bigint): number {
  const digits = [1, 2, 3, 4, 5, 6].find(count => 10n ** BigInt(count) % step === 0n);
  return digits !== undefined && 10n ** BigInt(digits) / step <= MOST_RESIDUES ? digits : 0;
}

/** Any leading digits, then last ones that make it a multiple; empty: there is none. */
function multiples(
  { least, most }: Range,
  step: bigint,
  digits: number,
  within: (range: Range) => string,
): string {
  const base = 10n ** BigInt(digits);
  const byLeading = new Map<string, string[]>();
  const options: string[] = [];
  for (let last = 0n; last < base; last += step) {
    if (last >= least && last <= most) options.push(`"${last}"`);
    const [low, high] = [larger(1n, ceiled(least - last, base)), (most - last) / base];
    if (most < last || low > high) continue;
    const leading = within({ least: low, most: high });
    byLeading.set(leading, [
      ...(byLeading.get(leading) ?? []),
      `"${String(last).padStart(digits, '0')}"`,
    ]);
  }
  for (const [leading, lasts] of byLeading) options.push(`${leading} ${either(lasts)}`);
  return options.length === 0 ? '' : either(options);
}

const ceiled = (value: bigint, base: bigint): bigint =>
  value <= 0n ? 0n : (value + base - 1n) / base;
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** A finite decimal: `units / 10^scale`. */
interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

/** The number as JavaScript writes it: the shortest decimal that reads as it. */
function decimalOf(value: number): Decimal {
  const [digits, exponent = '0'] = String(value).split('e') as [string, string?];
  const [whole, fraction = ''] = digits.split('.') as [string, string?];
  const scale = fraction.length - Number(exponent);
  const units = BigInt(whole + fraction);
  return scale >= 0 ? { units, scale } : { units: units * 10n ** BigInt(-scale), scale: 0 };
}

/** `value · 10^scale`, and what is lost by that: 0 or less than one unit. */
function unitsAt(
  { units, scale: own }: Decimal,
  scale: number,
): { floor: bigint; isExact: boolean } {
  if (own <= scale) return { floor: units * 10n ** BigInt(scale - own), isExact: true };
  const divisor = 10n ** BigInt(own - scale);
  const rest = units % divisor;
  return { floor: units / divisor - (rest < 0n ? 1n : 0n), isExact: rest === 0n };
}

function isMultiple(value: Decimal, step: Decimal): boolean {
  const scale = Math.max(value.scale, step.scale);
  return unitsAt(value, scale).floor % unitsAt(step, scale).floor === 0n;
}
