/**
 * JSON in GBNF. The bound on white space keeps a model from writing nothing but. `char` lists what it lets through: what it only
 * ruled out would take a byte that is no beginning of a character for one, and a text could get longer than its `maxLength`.
 */
const BASIC = {
  space: '[ \\t\\n]{0,20}',
  string: '"\\"" char* "\\""',
  char: '[ !#-\\[\\]-~\\u0080-\\uD7FF\\uE000-\\U0010FFFF] | "\\\\" (["\\\\bfnrt/] | "u" [0-9a-fA-F]{4})',
  number: '"-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,3})?',
  integer: '"-"? ("0" | [1-9] [0-9]{0,15})',
  boolean: '"true" | "false"',
  null: '"null"',
  object: '"{" space (string space ":" space value (space "," space string space ":" space value)*)? space "}"',
  array: '"[" space (value (space "," space value)*)? space "]"',
  value: 'object | array | string | number | boolean | null',
} as const;

/** Values of `format`, by their names in JSON schema; what they let through is valid, not all that is valid (no 29 February). */
const FORMATS = {
  date: '[1-9] [0-9]{3} "-" (("0" [13578] | "1" [02]) "-" (day | "3" [01]) | ("0" [469] | "11") "-" (day | "30") | "02-" ("0" [1-9] | "1" [0-9] | "2" [0-8]))',
  day: '"0" [1-9] | [12] [0-9]',
  time: 'minute ":" [0-5] [0-9] ("." [0-9]{1,6})? ("Z" | [+-] minute)',
  minute: '([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9]',
  'date-time': 'date "T" time',
  uuid: 'hex{8} "-" hex{4} "-" hex{4} "-" hex{4} "-" hex{12}',
  hex: '[0-9a-f]',
} as const;

/** Values of `format` that can be held. */
export const KNOWN_FORMATS: readonly unknown[] = ['date', 'time', 'date-time', 'uuid'];

/** Any JSON object. */
export const anyObjectGrammar = (): string => grammarText(new Map([['root', 'object']]));

/** With the rules of JSON, which the given ones name. */
export const grammarText = (rules: ReadonlyMap<string, string>): string =>
  [...rules, ...Object.entries({ ...BASIC, ...FORMATS })].map(([name, body]) => `${name} ::= ${body}`).join('\n');

export const either = (options: readonly string[]): string => `(${options.join(' | ')})`;

/** JSON text as a GBNF literal: JSON's own escapes, escaped once more. */
export const literal = (value: unknown): string => `"${JSON.stringify(value).replace(/[\\"]/g, '\\$&')}"`;
