import { belowHundred, isArticleOne, parseCardinal, writeDecade } from './cardinal.js';
import { parseQuantity, quantityText } from './quantity.js';
import { asSpoken, continued, type Tokens, wordBefore, type Written } from './token.js';
import { isNumeric, SCALES } from './vocabulary.js';

/**
 * "two or three thousand": is the first 2 or 2000? "From one to two hundred" and "five or
 * six hundred" differ by sense alone, so they stay words. With millions the written form
 * leaves it just as open: "2 or 3 million".
 */
export function writeSharedScale(tokens: Tokens, at: number): Written | undefined {
  const first = isNumeric(wordBefore(tokens, at)) ? undefined : belowHundred(tokens, at);
  const link = first && continued(tokens, first.end);
  if (
    !first ||
    (link !== 'to' && link !== 'or') ||
    continued(tokens, first.end + 1) === ''
  )
    return undefined;
  const head = belowHundred(tokens, first.end + 1);
  if (!head || head.value <= first.value) return undefined;
  const scale = continued(tokens, head.end);
  const end = head.end + 1;
  if (parseCardinal(tokens, first.end + 1)?.end !== end) return undefined;
  if (scale === 'hundred' || scale === 'thousand')
    return { text: asSpoken(tokens, at, end), end };
  return SCALES.has(scale)
    ? { text: `${first.value} ${link} ${head.value} ${scale}`, end }
    : undefined;
}

/**
 * A number that nothing else explains. One to nine stay words ("one of them", "two
 * dogs"), and so do "a hundred" and "a million" on their own.
 */
export function writeNumber(tokens: Tokens, at: number): Written | undefined {
  const decade = writeDecade(tokens, at);
  if (decade) return decade;
  const quantity = parseQuantity(tokens, at);
  if (!quantity) return undefined;
  const idiom = isArticleOne(tokens, at) && quantity.end === at + 2;
  const small = quantity.value < 10 && quantity.sign === '' && quantity.decimals === '';
  return idiom || small ? undefined : { text: quantityText(quantity), end: quantity.end };
}
