import { BODY_BOUNDS, parseBoundedJson } from './bounded-json.js';
import { type Fields, isObject } from './is-object.js';

/** The value of a JSON text; undefined: it is none, or exceeds the bounds. */
export function jsonIn(text: string, bounds = BODY_BOUNDS): unknown {
  try {
    return parseBoundedJson(text, bounds);
  } catch {
    return undefined;
  }
}

/** The object of a JSON text; undefined: it is none, or holds something else. */
export function objectIn(text: string, bounds = BODY_BOUNDS): Fields | undefined {
  const value = jsonIn(text, bounds);
  return isObject(value) ? value : undefined;
}
