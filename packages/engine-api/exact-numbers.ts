declare global {
  interface JSON {
    /** A value that `JSON.stringify` writes as `text`, unchanged. */
    rawJSON(text: string): { readonly rawJSON: string };
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
  }
}

/**
 * Digits of numbers that JavaScript would write differently, such as
 * `1234567890123456789` or `1.0`. The value itself is the number that JavaScript makes of
 * them; the object or list that holds it has them by name under this symbol, which copies
 * of the object carry, too.
 */
const DIGITS = Symbol('digits');

/** An object with the digits of its numbers by name; a list has them by index. */
type Holder = Record<string, unknown> & { [DIGITS]?: Record<string, string> };

/** Whether any number was read with its digits; until then `writeJson` need not look for them. */
let areKept = false;

/**
 * Prefix of the strings that stand for numbers while JSON is parsed; random, so no caller's
 * text has it.
 */
const MARK = `\ue000${crypto.randomUUID()}:`;

const COLON = /\s*:/y;

/**
 * `parse` of a text whose `numbers` (begin and end of each) keep their digits. They are
 * strings while it is parsed: a reviver would cost a call for each value.
 * @throws SyntaxError as `parse`
 */
export function parseWithDigits(
  text: string,
  numbers: readonly number[],
  parse: (text: string) => unknown,
): unknown {
  const pieces: string[] = [];
  let at = 0;
  for (let index = 0; index < numbers.length; index += 2) {
    const end = numbers[index + 1]!;
    // A name is no number: the text is no JSON, and stays so.
    COLON.lastIndex = end;
    if (COLON.test(text)) continue;
    pieces.push(text.slice(at, numbers[index]), `"${MARK}${text.slice(numbers[index], end)}"`);
    at = end;
  }
  const marked = pieces.join('') + text.slice(at);
  let value: unknown;
  try {
    value = parse(marked);
  } catch (error) {
    // In the words of the text that came.
    if (error instanceof SyntaxError) parse(text);
    throw error;
  }
  areKept = true;
  const top = { value } as Holder;
  restore(top);
  return top.value;
}

function restore(holder: Holder): void {
  each(holder, (value, key) => {
    if (typeof value === 'object' && value !== null) restore(value as Holder);
    if (typeof value !== 'string' || !value.startsWith(MARK)) return;
    const source = value.slice(MARK.length);
    holder[key] = Number(source);
    (holder[DIGITS] ??= {})[key] = source;
  });
}

/** The indexes of a list as they are: as texts they would cost more than all else. */
function each(holder: Holder, visit: (value: unknown, key: string) => void): void {
  if (!Array.isArray(holder)) for (const key of Object.keys(holder)) visit(holder[key], key);
  else for (let at = 0; at < holder.length; at += 1) visit(holder[at], at as never);
}

/** `JSON.stringify`, but numbers have the digits with which they were read. */
export const writeJson = (value: unknown, space?: number): string =>
  JSON.stringify(areKept ? withDigits(value, JSON.rawJSON) : value, undefined, space);

/** `writeJson` of one value of an object or a list. */
export const jsonAt = (holder: object, key: string): string =>
  JSON.stringify(exactAt(holder, key, JSON.rawJSON));

/** As `withDigits`, of one value of an object or a list. */
export function exactAt(
  holder: object,
  key: string,
  numberOf: (digits: string) => unknown,
): unknown {
  const { [key]: value, [DIGITS]: digits } = holder as Holder;
  if (!areKept || typeof value === 'object') return withDigits(value, numberOf);
  const source = digits && Object.hasOwn(digits, key) ? digits[key] : undefined;
  // Another value may have taken the place of that which was read.
  return source !== undefined && Number(source) === value ? numberOf(source) : value;
}

/**
 * A value in which `numberOf` makes something else of the numbers whose digits JavaScript
 * would write differently. What has none of them is not copied.
 */
export function withDigits(value: unknown, numberOf: (digits: string) => unknown): unknown {
  if (!areKept || typeof value !== 'object' || value === null || ArrayBuffer.isView(value))
    return value;
  const holder = value as Holder;
  if (typeof holder.toJSON === 'function') return value;
  const has = holder[DIGITS] !== undefined;
  let copy: Holder | undefined;
  each(holder, (item, key) => {
    if (!has && (typeof item !== 'object' || item === null)) return;
    const exact = exactAt(holder, key, numberOf);
    if (exact !== item) (copy ??= copyOf(holder))[key] = exact;
  });
  return copy ?? value;
}

const copyOf = (holder: Holder): Holder =>
  (Array.isArray(holder) ? [...(holder as unknown[])] : { ...holder }) as Holder;
