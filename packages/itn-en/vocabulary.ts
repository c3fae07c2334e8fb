/**
 * Symbol before the amount. Pounds are weights as often as money, so they need "sterling"
 * or "pence" (money.ts).
 */
export const CURRENCIES: ReadonlyMap<string, string> = new Map([
  ['dollar', '$'],
  ['dollars', '$'],
  ['euro', '€'],
  ['euros', '€'],
  ['yen', '¥'],
  ['rupee', '₹'],
  ['rupees', '₹'],
]);

/**
 * Units that have one well-known symbol. Feet, miles, pounds, hours and minutes
 * are everyday words: they stay, and their numbers follow the general rule ("two
 * feet", "26 miles").
 */
const SYMBOLS: readonly (readonly [string, string])[] = [
  ['kilometer', 'km'],
  ['kilometre', 'km'],
  ['meter', 'm'],
  ['metre', 'm'],
  ['centimeter', 'cm'],
  ['centimetre', 'cm'],
  ['millimeter', 'mm'],
  ['millimetre', 'mm'],
  ['kilogram', 'kg'],
  ['kilo', 'kg'],
  ['gram', 'g'],
  ['milligram', 'mg'],
  ['liter', 'L'],
  ['litre', 'L'],
  ['milliliter', 'mL'],
  ['millilitre', 'mL'],
  ['millisecond', 'ms'],
  ['kilobyte', 'kB'],
  ['megabyte', 'MB'],
  ['gigabyte', 'GB'],
  ['terabyte', 'TB'],
  ['kilowatt', 'kW'],
  ['megawatt', 'MW'],
  ['gigawatt', 'GW'],
  ['watt', 'W'],
  ['volt', 'V'],
  ['decibel', 'dB'],
];

export const UNITS_OF_MEASURE: ReadonlyMap<string, string> = new Map([
  ...SYMBOLS,
  ...SYMBOLS.map(([name, symbol]) => [`${name}s`, symbol] as const),
  ['hertz', 'Hz'],
  ['kilohertz', 'kHz'],
  ['megahertz', 'MHz'],
  ['gigahertz', 'GHz'],
]);

export const isDegree = (word: string): boolean => word === 'degree' || word === 'degrees';

const numbered = (
  names: readonly string[],
  from: number,
  step = 1,
): (readonly [string, number])[] =>
  names.map((name, index) => [name, from + index * step] as const);

/** 1..9 */
export const UNITS: ReadonlyMap<string, number> = new Map(
  numbered('one two three four five six seven eight nine'.split(' '), 1),
);
/** 10..19 */
export const TEENS: ReadonlyMap<string, number> = new Map(
  numbered(
    'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' '),
    10,
  ),
);
/** 20, 30 .. 90 */
export const TENS: ReadonlyMap<string, number> = new Map(
  numbered('twenty thirty forty fifty sixty seventy eighty ninety'.split(' '), 20, 10),
);
export const SCALES: ReadonlyMap<string, number> = new Map([
  ['thousand', 1e3],
  ['million', 1e6],
  ['billion', 1e9],
  ['trillion', 1e12],
]);

/** 1..19 and 20, 30 .. 90 */
export const ORDINALS: ReadonlyMap<string, number> = new Map([
  ...numbered(
    `first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
     thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth`.split(/\s+/),
    1,
  ),
  ...[...TENS].map(([name, value]) => [name.replace(/y$/, 'ieth'), value] as const),
]);

/** They count only beside other digits. */
export const ZERO_LETTERS: ReadonlyMap<string, string> = new Map([
  ['oh', '0'],
  ['o', '0'],
]);

/** One spoken digit. */
export const DIGITS: ReadonlyMap<string, string> = new Map([
  ['zero', '0'],
  ...ZERO_LETTERS,
  ...[...UNITS].map(([name, value]) => [name, String(value)] as const),
]);

/**
 * A cardinal word, or one that has digits already. "oh" and "a" are words first of all.
 */
export function isNumeric(word: string): boolean {
  const named = UNITS.has(word) || TEENS.has(word) || TENS.has(word) || SCALES.has(word);
  return named || word === 'hundred' || word === 'zero' || /\d/.test(word);
}
