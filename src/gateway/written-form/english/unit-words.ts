/** Symbol before the amount. Pounds are weights as often as money, so they need "sterling" or "pence" (money.ts). */
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
 * Units that have one symbol everybody reads. Feet, miles, pounds, hours and minutes are everyday words: they stay, and
 * their numbers follow the general rule ("two feet", "26 miles").
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

/** Units whose squares and cubes are written with a raised digit. */
export const LENGTH_SYMBOLS: ReadonlySet<string> = new Set(['km', 'm', 'cm', 'mm']);

export const isDegree = (word: string): boolean => word === 'degree' || word === 'degrees';

/** Words in which "and a half" before them becomes ".5". */
export const isUnitWord = (word: string): boolean =>
  word === 'percent' || isDegree(word) || CURRENCIES.has(word) || UNITS_OF_MEASURE.has(word);
