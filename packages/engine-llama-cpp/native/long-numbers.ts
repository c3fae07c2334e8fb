import { randomInt } from 'node:crypto';
import { withDigits } from '@switchyard/engine-api/exact-numbers.js';

/** Digits of a random beginning, and of the index that follows: a template keeps 15. */
const INDEX_DIGITS = 5;
const LEAST = 1_000_000_000;

/**
 * Numbers that a template would round. Others of 15 digits stand for them while it is run,
 * which are random: no caller can write one.
 */
export function longNumbersIn<T>(variables: T) {
  const beginning = randomInt(LEAST, 10 * LEAST);
  const first = beginning * 10 ** INDEX_DIGITS;
  const found: string[] = [];
  const plain = withDigits(variables, digits => first + found.push(digits) - 1) as T;
  const pattern = new RegExp(`${beginning}\\d{${INDEX_DIGITS}}`, 'g');
  const reveal = (text: string): string =>
    found.length === 0 ? text : text.replace(pattern, one => found[Number(one) - first] ?? one);
  return { plain, reveal };
}
