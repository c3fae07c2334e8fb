const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
/**
 * Most strings end sooner than a call of `indexOf` takes; in long ones it is a hundred
 * times as fast.
 */
const SHORT_STRING = 64;
const utf8 = new TextDecoder();

/** What a byte outside of strings is to a scan, by its code; 0: blank or in a value. */
const STRING = 1;
const OPEN = 2;
const CLOSE = 3;
const COLON = 4;
const COMMA = 5;
const KINDS = new Uint8Array(256);
for (const [kind, bytes] of [
  [STRING, '"'],
  [OPEN, '{['],
  [CLOSE, '}]'],
  [COLON, ':'],
  [COMMA, ','],
] as const)
  for (const byte of bytes) KINDS[byte.charCodeAt(0)] = kind;

/** What a byte of each kind adds to the depth of the JSON. */
const DEPTH_CHANGES = [0, 0, 1, -1, 0, 0];
/** The depth, after it, at which such a byte ends a name or a value of the object. */
const ENDS_AT_DEPTH = [-1, -1, -1, 0, 1, 1];

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Where the values of top-level keys lie in the bytes of a JSON object, in their order, so
 * that a body is passed on untouched: parsing and printing it again would lose the digits
 * of numbers above 2^53. Of a key given twice the last counts, as in JSON.parse. One pass,
 * whatever the number of keys.
 * @param json an object that JSON.parse accepts.
 */
export function valueSpans(
  json: Uint8Array,
  keys: readonly string[],
): Readonly<Record<string, Span>> {
  const found: Record<string, Span> = {};
  for (const { key, start, end } of membersOf(json, keys)) {
    if (found[key]) delete found[key];
    found[key] = withoutBlanks(json, start, end);
  }
  return found;
}

interface Member extends Span {
  readonly key: string;
  /** Where its name begins; `start` and `end` are those of its value, with blanks. */
  readonly name: number;
}

/** The top-level members of an object whose names are among `keys`, in their order. */
export function membersOf(json: Uint8Array, keys: readonly string[]): readonly Member[] {
  const members: Member[] = [];
  let depth = 0;
  let name = 0;
  let nameEnd = 0;
  let key: string | undefined;
  let keyStart = 0;
  let start = 0;
  for (let at = 0; at < json.length; at++) {
    const kind = KINDS[json[at]!]!;
    if (kind === 0) continue;
    if (kind === STRING) {
      name = at;
      nameEnd = endOfString(json, at);
      at = nameEnd - 1;
      continue;
    }
    depth += DEPTH_CHANGES[kind]!;
    if (depth !== ENDS_AT_DEPTH[kind]) continue;
    if (key !== undefined) members.push({ key, name: keyStart, start, end: at });
    key = kind === COLON ? keyAt(json, name, nameEnd, keys) : undefined;
    keyStart = name;
    start = at + 1;
  }
  return members;
}

/**
 * The one of `keys` that the JSON string from `start` to `end`, quotes included, says.
 * Only a string with escapes is parsed for it.
 */
function keyAt(
  json: Uint8Array,
  start: number,
  end: number,
  keys: readonly string[],
): string | undefined {
  for (const key of keys) {
    let length = 0;
    let byte = json[start + 1]!;
    while (byte === key.charCodeAt(length) && byte < 0x80 && byte !== BACKSLASH)
      byte = json[start + 1 + ++length]!;
    const isKey =
      byte === BACKSLASH || byte > 0x7f
        ? JSON.parse(utf8.decode(json.subarray(start, end))) === key
        : length === key.length && length === end - start - 2;
    if (isKey) return key;
  }
  return undefined;
}

function withoutBlanks(json: Uint8Array, from: number, to: number): Span {
  let [start, end] = [from, to];
  while (json[start]! <= SPACE) start += 1;
  while (json[end - 1]! <= SPACE) end -= 1;
  return { start, end };
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

/** Whether the byte at `at` is escaped: an odd number of backslashes precedes it. */
function isEscaped(json: Uint8Array, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}
