import { parseBoundedJson } from './bounded-json.js';
import { type Fields, isObject } from './is-object.js';

/** The value of a JSON text; undefined: it is none, or exceeds the bounds of a body. */
export function jsonIn(text: string): unknown {
  try {
    return parseBoundedJson(text);
  } catch {
    return undefined;
  }
}

/** The object of a JSON text; undefined: it is none, or holds something else. */
export function objectIn(text: string): Fields | undefined {
  const value = jsonIn(text);
  return isObject(value) ? value : undefined;
}
