const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
/**
 * Most strings end sooner than a call of `indexOf` takes; in long ones it is a hundred
 * times as fast.
 */
const SHORT_STRING = 64;
const utf8 = new TextDecoder();

/**
 * What a byte outside of strings is to a scan, by its code; 0: part of a number
 * or a literal.
 */
const OPEN = 1;
const CLOSE = 2;
const BLANK = 3;
const KINDS = new Uint8Array(256);
for (const [kind, bytes] of [
  [OPEN, '{['],
  [CLOSE, '}]'],
  [BLANK, ' \t\n\r'],
] as const)
  for (const byte of bytes) KINDS[byte.charCodeAt(0)] = kind;

export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Where the values of top-level keys lie in the bytes of a JSON object, so that a body is
 * passed on untouched: parsing and printing it again would lose the digits of numbers
 * above 2^53. Of a key given twice the last counts, as in JSON.parse. One pass, whatever
 * the number of keys.
 * @param json an object that JSON.parse accepts.
 */
export function valueSpans<K extends string>(
  json: Uint8Array,
  keys: readonly K[],
): Partial<Record<K, Span>> {
  const found: Partial<Record<K, Span>> = {};
  let at = skipBlanks(json, 0) + 1;
  while (at < json.length) {
    at = skipBlanks(json, at);
    if (json[at] !== QUOTE) break;
    const nameEnd = endOfString(json, at);
    const colonAt = skipBlanks(json, nameEnd);
    if (json[colonAt] !== COLON) break;
    const start = skipBlanks(json, colonAt + 1);
    const end = endOfValue(json, start);
    for (const key of keys)
      if (isName(json, at, nameEnd, key)) found[key] = { start, end };
    at = skipBlanks(json, end);
    if (json[at] !== COMMA) break;
    at += 1;
  }
  return found;
}

export const valueSpan = (json: Uint8Array, key: string): Span | undefined =>
  valueSpans(json, [key])[key];

/**
 * Does the JSON string from `start` to `end`, quotes included, say `name`? Only one with
 * escapes is parsed for it.
 */
function isName(json: Uint8Array, start: number, end: number, name: string): boolean {
  for (let at = start + 1; at < end - 1; at++) {
    const byte = json[at]!;
    if (byte === BACKSLASH || byte > 0x7f)
      return JSON.parse(utf8.decode(json.subarray(start, end))) === name;
    if (byte !== name.charCodeAt(at - start - 1)) return false;
  }
  return name.length === end - start - 2;
}

function skipBlanks(json: Uint8Array, from: number): number {
  let at = from;
  while (at < json.length && KINDS[json[at]!] === BLANK) at += 1;
  return at;
}

/** @returns the position after the closing quote. */
function endOfString(json: Uint8Array, from: number): number {
  const near = Math.min(json.length, from + SHORT_STRING);
  for (let at = from + 1; at < near; at++) {
    if (json[at] === BACKSLASH) at += 1;
    else if (json[at] === QUOTE) return at + 1;
  }
  let at = json.indexOf(QUOTE, near);
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
  if (KINDS[json[from]!] !== OPEN) return endOfScalar(json, from);
  let depth = 0;
  let at = from;
  while (at < json.length) {
    const byte = json[at]!;
    if (byte === QUOTE) {
      at = endOfString(json, at);
      continue;
    }
    const kind = KINDS[byte];
    if (kind === OPEN) depth += 1;
    else if (kind === CLOSE && --depth === 0) return at + 1;
    at += 1;
  }
  return at;
}

/** Comma, blank and closing bracket end it. */
function endOfScalar(json: Uint8Array, from: number): number {
  let at = from;
  while (at < json.length && json[at] !== COMMA && KINDS[json[at]!]! < CLOSE) at += 1;
  return at;
}
