import { MOST_REPETITIONS } from './gbnf-reader.js';
import { type Bounds } from './schema-fields.js';

/** One rule of repetitions has so many: more would be past llama.cpp's bound, which it then leaves out. */
const PIECE = MOST_REPETITIONS / 2;

/** `item` as often as the bounds say, whatever llama.cpp's own bound is. */
export function repeated(item: string, { least, most }: Bounds, newRule: (body: string) => string): string {
  const whole = Math.max(0, Math.floor(least / PIECE) - 1);
  const rest = least - whole * PIECE;
  const pieces = Array.from({ length: whole }, () => `${item}{${PIECE}}`);
  if (most === Infinity) return [...pieces, `${item}{${rest},}`].join(' ');
  if (most - whole * PIECE <= MOST_REPETITIONS)
    return [...pieces, `${item}{${rest},${most - whole * PIECE}}`].join(' ');
  return [...pieces, `${item}{${rest}}`, upTo(item, most - least, newRule)].join(' ');
}

/** A piece and what may follow it, or less than a piece. */
function upTo(item: string, most: number, newRule: (body: string) => string): string {
  if (most < PIECE) return `${item}{0,${most}}`;
  return newRule(`${item}{${PIECE}} ${upTo(item, most - PIECE, newRule)} | ${item}{0,${PIECE - 1}}`);
}
