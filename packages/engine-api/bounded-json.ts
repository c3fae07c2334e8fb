import { EngineError } from './coded-error.js';
import { parseWithDigits } from './exact-numbers.js';

/** Bounds of a JSON text besides its length: few bytes can become many objects. */
interface JsonBounds {
  /** Depth to which lists and objects may nest. */
  readonly levels: number;
  /** Lists, objects and fields of objects, in total. */
  readonly nodes: number;
  /**
   * Entries of lists and fields of objects, counted by commas. Numbers and strings are
   * cheap, so the bound is higher.
   */
  readonly entries: number;
  /** False: numbers are what JavaScript makes of them, as in lists of vectors (true). */
  readonly digits?: false;
}

/** For bodies: thousands of messages with tools, or a million tokens to embed. */
export const BODY_BOUNDS: JsonBounds = {
  levels: 256,
  nodes: 100_000,
  entries: 1_000_000,
};
/** For events of a session and values in forms. */
export const EVENT_BOUNDS: JsonBounds = { levels: 64, nodes: 10_000, entries: 10_000 };

/** For answers of models: each token may have twenty alternatives. */
export const ANSWER_BOUNDS: JsonBounds = {
  levels: 256,
  nodes: 500_000,
  entries: 10_000_000,
};
/** For vectors of numbers. */
export const VECTOR_BOUNDS: JsonBounds = { ...ANSWER_BOUNDS, digits: false };
/** For what was stored here, after it was read within narrower bounds. */
export const STORED_BOUNDS: JsonBounds = {
  levels: 1000,
  nodes: 10_000_000,
  entries: 100_000_000,
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** By its code, what a character outside of strings is; the kinds below. */
const KINDS = new Uint8Array(0x1_00_00);
const [ENTRY, FIELD, OPEN, CLOSE, TEXT, NUMBER, FRACTION] = [1, 2, 3, 4, 5, 6, 7];
/**
 * What a character of each kind adds to the depth, the nodes and the entries; the index is
 * the kind.
 */
const LEVELS = [0, 0, 0, 1, -1, 0, 0];
const NODES = [0, 0, 1, 1, 0, 0, 0];
const ENTRIES = [0, 1, 0, 0, 0, 0, 0];
for (const [characters, kind] of [
  [',', ENTRY],
  [':', FIELD],
  ['[{', OPEN],
  [']}', CLOSE],
  ['"', TEXT],
  ['-0123456789', NUMBER],
  ['.eE', FRACTION],
] as const)
  for (const character of characters) KINDS[character.charCodeAt(0)] = kind;

/**
 * Characters of a string that are checked one by one before `indexOf` searches
 * for its end.
 */
const STEP = 16;

/**
 * `JSON.parse` of a text within the bounds. Numbers keep their digits: `writeJson` writes
 * them as they came. @throws EngineError `invalid_json`; SyntaxError as `JSON.parse`
 * @param parse in place of `JSON.parse`, where more is refused
 */
export function parseBoundedJson(
  text: string,
  bounds: JsonBounds = BODY_BOUNDS,
  parse: (text: string) => unknown = JSON.parse,
): unknown {
  const numbers: number[] = [];
  const excess = jsonExcess(text, bounds, numbers);
  if (excess !== undefined) throw new EngineError('invalid_json', `The JSON ${excess}.`);
  return numbers.length === 0 ? parse(text) : parseWithDigits(text, numbers, parse);
}

/**
 * The bound that a JSON text exceeds, in words, or undefined. One pass over the
 * characters that ends at the first excess. Strings are skipped, so long ones cost almost
 * nothing. Of invalid JSON, only the brackets are checked.
 * @param numbers receives begin and end of each number that JavaScript would write
 *   differently; each counts as two fields
 */
export function jsonExcess(
  text: string,
  { levels, nodes, entries, digits }: JsonBounds,
  numbers: number[] = [],
): string | undefined {
  let depth = 0;
  let nodeCount = 0;
  let entryCount = 0;
  const last = digits === false ? TEXT : NUMBER;
  for (let at = 0; at < text.length; at += 1) {
    const kind = KINDS[text.charCodeAt(at)]!;
    if (kind === 0 || kind > last) continue;
    if (kind >= TEXT) at = kind === TEXT ? endOfText(text, at) : endOfNumber(text, at, numbers);
    depth += LEVELS[kind]!;
    nodeCount += NODES[kind]!;
    entryCount += ENTRIES[kind]!;
    if (depth > levels) return `is nested deeper than ${levels} levels`;
    if (nodeCount + numbers.length > nodes)
      return `has more than ${nodes} objects, lists and fields`;
    if (entryCount > entries) return `has more than ${entries} entries`;
  }
  return undefined;
}

/** Whole numbers of so many characters are the same in JavaScript, but `-0`. */
const EXACT_CHARACTERS = 15;
const ANY_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
/** The characters of a number after its first digits. */
const REST = /[-+.\deE]+/y;

const MINUS = 0x2d;
const ZERO = 0x30;
const isDigit = (code: number): boolean => code >= ZERO && code <= 0x39;

const beginsWithMinusZero = (text: string, begin: number): boolean =>
  text.charCodeAt(begin) === MINUS && text.charCodeAt(begin + 1) === ZERO;

/** @returns the index of its last character */
function endOfNumber(text: string, begin: number, numbers: number[]): number {
  let end = begin + 1;
  while (isDigit(text.charCodeAt(end))) end += 1;
  const goesOn = KINDS[text.charCodeAt(end)]! >= NUMBER;
  if (!goesOn && end - begin <= EXACT_CHARACTERS && !beginsWithMinusZero(text, begin))
    return end - 1;
  REST.lastIndex = end;
  if (REST.test(text)) end = REST.lastIndex;
  const source = text.slice(begin, end);
  if (String(Number(source)) !== source && ANY_NUMBER.test(source)) numbers.push(begin, end);
  return end - 1;
}

/** Index of the quote that ends the string, or the length of the text without one. */
function endOfText(text: string, begin: number): number {
  for (let at = begin + 1; at < text.length;) {
    for (const near = at + STEP; at < near; at += 1) {
      const character = text.charCodeAt(at);
      if (character === QUOTE) return at;
      if (character === BACKSLASH) at += 1;
    }
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let before = quote;
    while (before > at && text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 0) return quote;
    at = quote + 1;
  }
  return text.length;
}
