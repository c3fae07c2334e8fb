import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { MOST_REPETITIONS } from './gbnf-reader.js';
import { refused } from './grammar-error.js';
import { type Bounds } from './schema-fields.js';

/**
 * One rule of repetitions has so many: more would be past llama.cpp's bound, which it
 * then leaves out.
 */
const PIECE = MOST_REPETITIONS / 2;

/**
 * JSON in GBNF. The bound on white space keeps a model from writing nothing but. `char`
 * lists what it lets through: what it only ruled out would take a byte that is no
 * beginning of a character for one, and a text could get longer than its `maxLength`.
 */
const BASIC = {
  space: '[ \\t\\n]{0,20}',
  string: '"\\"" char* "\\""',
  char: '[ !#-\\[\\]-~\\u0080-\\uD7FF\\uE000-\\U0010FFFF] | "\\\\" (["\\\\bfnrt/] | "u" [0-9a-fA-F]{4})',
  number: '"-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,3})?',
  integer: '"-"? ("0" | [1-9] [0-9]{0,15})',
  boolean: '"true" | "false"',
  null: '"null"',
  object:
    '"{" space (string space ":" space value (space "," space string space ":" space value)*)? space "}"',
  array: '"[" space (value (space "," space value)*)? space "]"',
  value: 'object | array | string | number | boolean | null',
} as const;

/** Any JSON object. */
export const anyObjectGrammar = (): string => rulesText(new Map([['root', 'object']]));

/** The GBNF text of rules, with the basic rules of JSON that they refer to. */
const rulesText = (rules: ReadonlyMap<string, string>): string =>
  [...rules, ...Object.entries(BASIC)].map(([name, body]) => `${name} ::= ${body}`).join('\n');

export const either = (options: readonly string[]): string => `(${options.join(' | ')})`;

/** JSON text as a GBNF literal: JSON's own escapes, escaped once more. */
export const literal = (value: unknown): string =>
  `"${writeJson(value).replace(/[\\"]/g, '\\$&')}"`;

/** Schemas in schemas: deeper ones would overflow a stack here or in llama.cpp. */
const DEEPEST = 200;
/** Schemas that are translated at most, merged ones included. */
const MOST_SCHEMAS = 10_000;
const MOST_CHARACTERS = 500_000;

/**
 * The rules of one grammar while it is written. Bounds are checked with every rule, not
 * when all is done.
 */
export class GrammarRules {
  readonly #rules = new Map<string, string>([['root', '']]);
  #depth = 0;
  #schemas = 0;
  #characters = 0;

  constructor(private readonly path: string) {}

  /**
   * Counts one schema and what is inside of it. @throws GrammarError beyond a
   * bound, naming `path`
   */
  inside(path: string, work: () => string): string {
    if (this.#depth >= DEEPEST)
      throw refused(path, `schemas in schemas are at most ${DEEPEST} deep`);
    this.count(path);
    this.#depth += 1;
    const expression = work();
    this.#depth -= 1;
    if (expression.length > MOST_CHARACTERS) throw this.#tooLong(path);
    return expression;
  }

  /** Counts a schema that is written or merged. @throws GrammarError when there are too many */
  count(path: string): void {
    this.#schemas += 1;
    if (this.#schemas > MOST_SCHEMAS)
      throw refused(path, `with this one there are more than ${MOST_SCHEMAS} schemas`);
  }

  /** @returns the name of the rule */
  add(body = ''): string {
    const name = `r${this.#rules.size}`;
    this.set(name, body);
    return name;
  }

  set(name: string, body: string): void {
    this.#characters += name.length + body.length;
    if (this.#characters > MOST_CHARACTERS) throw this.#tooLong(this.path);
    this.#rules.set(name, body);
  }

  /** `item` as often as the bounds say, also beyond llama.cpp's limit for repetitions. */
  repeated(item: string, { least, most }: Bounds): string {
    const whole = Math.max(0, Math.floor(least / PIECE) - 1);
    const rest = least - whole * PIECE;
    const pieces = Array.from({ length: whole }, () => `${item}{${PIECE}}`);
    if (most === Infinity) return [...pieces, `${item}{${rest},}`].join(' ');
    if (most - whole * PIECE <= MOST_REPETITIONS)
      return [...pieces, `${item}{${rest},${most - whole * PIECE}}`].join(' ');
    return [...pieces, `${item}{${rest}}`, this.#upTo(item, most - least)].join(' ');
  }

  text(): string {
    return rulesText(this.#rules);
  }

  /** Up to `most` repetitions of an item, as rules of at most `PIECE` repetitions each. */
  #upTo(item: string, most: number): string {
    if (most < PIECE) return `${item}{0,${most}}`;
    return this.add(
      `${item}{${PIECE}} ${this.#upTo(item, most - PIECE)} | ${item}{0,${PIECE - 1}}`,
    );
  }

  #tooLong(path: string): Error {
    return refused(path, `it comes to more than ${MOST_CHARACTERS} characters of grammar`);
  }
}
