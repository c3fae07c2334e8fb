import { EngineError } from './coded-error.js';

/** Bounds of a JSON text besides its length: few bytes can become many objects. */
interface JsonBounds {
  /** Nesting depth of lists and objects. */
  readonly levels: number;
  /** Lists, objects and fields of objects. */
  readonly nodes: number;
  /**
   * Entries of lists and fields of objects, counted by commas. Numbers and strings are
   * cheap, so the bound is higher.
   */
  readonly entries: number;
}

/** For bodies: thousands of messages with tools, or a million tokens to embed. */
export const BODY_BOUNDS: JsonBounds = {
  levels: 256,
  nodes: 100_000,
  entries: 1_000_000,
};
/** For events of a session and values in forms. */
export const EVENT_BOUNDS: JsonBounds = { levels: 64, nodes: 10_000, entries: 10_000 };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** By its code, what a character outside of strings adds to levels, nodes and entries. */
const COUNTED: Readonly<Record<number, readonly [number, number, number]>> = {
  0x2c: [0, 0, 1], // ,
  0x3a: [0, 1, 0], // :
  0x5b: [1, 1, 0], // [
  0x5d: [-1, 0, 0], // ]
  0x7b: [1, 1, 0], // {
  0x7d: [-1, 0, 0], // }
};

/**
 * Characters of a string that are checked one by one before `indexOf` searches
 * for its end.
 */
const STEP = 16;

/**
 * `JSON.parse` of a text within the bounds. @throws EngineError `invalid_json`;
 * SyntaxError as `JSON.parse`
 */
export function parseBoundedJson(text: string, bounds: JsonBounds = BODY_BOUNDS): unknown {
  const excess = jsonExcess(text, bounds);
  if (excess !== undefined) throw new EngineError('invalid_json', `The JSON ${excess}.`);
  return JSON.parse(text) as unknown;
}

/**
 * The bound that a JSON text exceeds, in words, or undefined. One pass over the
 * characters that ends at the first excess. Strings are skipped, so long ones cost almost
 * nothing. Of invalid JSON, only the brackets are checked.
 */
export function jsonExcess(
  text: string,
  { levels, nodes, entries }: JsonBounds,
): string | undefined {
  let depth = 0;
  let nodeCount = 0;
  let entryCount = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at);
    const counted = COUNTED[code];
    if (counted === undefined) continue;
    depth += counted[0];
    nodeCount += counted[1];
    entryCount += counted[2];
    if (depth > levels) return `is nested deeper than ${levels} levels`;
    if (nodeCount > nodes) return `has more than ${nodes} objects, lists and fields`;
    if (entryCount > entries) return `has more than ${entries} entries`;
  }
  return undefined;
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
