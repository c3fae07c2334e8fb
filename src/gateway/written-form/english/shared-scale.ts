import { belowHundred, parseCardinal } from './cardinal.js';
import { isNumeric, SCALES } from './number-words.js';
import { type Written } from './rewrite.js';
import { asSpoken, continued, type Tokens, wordBefore } from './token.js';

/**
 * "two or three thousand": is the first 2 or 2000? "From one to two hundred" and "five or six hundred" differ by sense
 * alone, so they stay words. With millions the written form leaves it just as open: "2 or 3 million".
 */
export function writeSharedScale(tokens: Tokens, at: number): Written | undefined {
  const first = isNumeric(wordBefore(tokens, at)) ? undefined : belowHundred(tokens, at);
  const link = first && continued(tokens, first.end);
  if (!first || (link !== 'to' && link !== 'or') || continued(tokens, first.end + 1) === '') return undefined;
  const head = belowHundred(tokens, first.end + 1);
  if (!head || head.value <= first.value) return undefined;
  const scale = continued(tokens, head.end);
  const end = head.end + 1;
  if (parseCardinal(tokens, first.end + 1)?.end !== end) return undefined;
  if (scale === 'hundred' || scale === 'thousand') return { text: asSpoken(tokens, at, end), end };
  return SCALES.has(scale) ? { text: `${first.value} ${link} ${head.value} ${scale}`, end } : undefined;
}
