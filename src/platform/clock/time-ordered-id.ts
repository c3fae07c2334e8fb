import { randomFillSync } from 'node:crypto';

const RANDOM_BYTES = 8;
const MOST_BACK_MS = 3_600_000;
/**
 * Random bytes are fetched for many ids at once: asking for eight costs as much as asking
 * for four thousand.
 */
const pool = Buffer.alloc(512 * RANDOM_BYTES);
let used = pool.length;
let lastMs = 0;
/**
 * Many ids are made in the same millisecond, and hexadecimal digits of numbers above 2^32
 * cost more than all the rest.
 */
let timeDigits = '';
let counter = 0;

/**
 * A prefix and 32 hex digits that grow with time, as UUIDv7 does: 48 bits of
 * milliseconds, 16 bits of counter, 64 random bits. Listing by id is listing by age, also
 * for ids of one process in the same millisecond and across a clock set back by at most an
 * hour. One that was further ahead was wrong: ids of its time would not be old for as long.
 */
export function timeOrderedId(prefix: string, nowMs: number): string {
  if (nowMs > lastMs || nowMs < lastMs - MOST_BACK_MS) startMs(Math.floor(nowMs));
  else if (++counter > 0xffff) startMs(lastMs + 1);
  return prefix + timeDigits + counter.toString(16).padStart(4, '0') + randomHex();
}

function startMs(ms: number) {
  lastMs = ms;
  timeDigits = ms.toString(16).padStart(TIME_DIGITS, '0');
  counter = 0;
}

const ID_DIGITS = 32;
const TIME_DIGITS = 12;

/**
 * Unix milliseconds at which an id was made; undefined for a text that ends with none.
 */
export function bornAtMs(id: string): number | undefined {
  const digits = id.slice(-ID_DIGITS);
  return /^[0-9a-f]{32}$/.test(digits)
    ? Number.parseInt(digits.slice(0, TIME_DIGITS), 16)
    : undefined;
}

function randomHex(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += RANDOM_BYTES;
  return pool.toString('hex', used - RANDOM_BYTES, used);
}
