import { type Fields, isObject } from './is-object.js';

/** The value of a JSON text; undefined: it is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The object of a JSON text; undefined: it is none, or holds something else. */
export function objectIn(text: string): Fields | undefined {
  const value = jsonIn(text);
  return isObject(value) ? value : undefined;
}
