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

/** Any JSON object. */
export const anyObjectGrammar = (): string => rulesText(new Map([['root', 'object']]));

/** With the rules of JSON, which the given ones name. */
export const rulesText = (rules: ReadonlyMap<string, string>): string =>
  [...rules, ...Object.entries(BASIC)].map(([name, body]) => `${name} ::= ${body}`).join('\n');

export const either = (options: readonly string[]): string => `(${options.join(' | ')})`;

/** JSON text as a GBNF literal: JSON's own escapes, escaped once more. */
export const literal = (value: unknown): string => `"${JSON.stringify(value).replace(/[\\"]/g, '\\$&')}"`;
