const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN = new Set([0x7b, 0x5b]);
const CLOSE = new Set([0x7d, 0x5d]);
const BLANK = new Set([0x20, 0x09, 0x0a, 0x0d]);
const utf8 = new TextDecoder();

export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Where the value of a top-level key lies in the bytes of a JSON object, so that a body is passed on untouched: parsing and
 * printing it again would lose the digits of numbers above 2^53 (LESSONS "Batch jobs"). Of a key given twice the last
 * counts, as in JSON.parse. @param json an object that JSON.parse accepts.
 */
export function valueSpan(json: Uint8Array, key: string): Span | undefined {
  let found: Span | undefined;
  let at = skipBlanks(json, 0) + 1;
  while (at < json.length) {
    at = skipBlanks(json, at);
    if (json[at] !== QUOTE) break;
    const nameEnd = endOfString(json, at);
    const name: unknown = JSON.parse(utf8.decode(json.subarray(at, nameEnd)));
    at = skipBlanks(json, nameEnd);
    if (json[at] !== COLON) break;
    const start = skipBlanks(json, at + 1);
    const end = endOfValue(json, start);
    if (name === key) found = { start, end };
    at = skipBlanks(json, end);
    if (json[at] !== COMMA) break;
    at += 1;
  }
  return found;
}

function skipBlanks(json: Uint8Array, from: number): number {
  let at = from;
  while (at < json.length && BLANK.has(json[at]!)) at += 1;
  return at;
}

/** @returns the position after the closing quote. */
function endOfString(json: Uint8Array, from: number): number {
  let at = json.indexOf(QUOTE, from + 1);
  while (at >= 0 && isEscaped(json, at)) at = json.indexOf(QUOTE, at + 1);
  return at < 0 ? json.length : at + 1;
}

/** Behind an odd number of backslashes. */
function isEscaped(json: Uint8Array, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

function endOfValue(json: Uint8Array, from: number): number {
  if (json[from] === QUOTE) return endOfString(json, from);
  if (!OPEN.has(json[from]!)) return endOfScalar(json, from);
  let depth = 0;
  let at = from;
  while (at < json.length) {
    const byte = json[at]!;
    if (byte === QUOTE) {
      at = endOfString(json, at);
      continue;
    }
    if (OPEN.has(byte)) depth += 1;
    else if (CLOSE.has(byte) && --depth === 0) return at + 1;
    at += 1;
  }
  return at;
}

function endOfScalar(json: Uint8Array, from: number): number {
  let at = from;
  while (at < json.length && json[at] !== COMMA && !CLOSE.has(json[at]!) && !BLANK.has(json[at]!)) at += 1;
  return at;
}
