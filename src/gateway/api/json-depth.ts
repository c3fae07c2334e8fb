const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Whether JSON holds lists and objects inside one another to more than `limit`. Parsers take any depth; what walks through
 * the result has a stack that ends. Strings are jumped over, so that a long text costs next to nothing.
 */
export function isDeeperThan(json: Buffer, limit: number): boolean {
  // Each level takes two brackets.
  if (json.length <= 2 * limit) return false;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) at = endOfString(json, at);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}

/** Where the quote is that ends the string; the end of all when there is none. */
function endOfString(json: Buffer, begin: number): number {
  for (let at = json.indexOf(QUOTE, begin + 1); at >= 0; at = json.indexOf(QUOTE, at + 1)) {
    let before = at;
    while (json[before - 1] === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 0) return at;
  }
  return json.length;
}
