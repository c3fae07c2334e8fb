import { isArticleOne } from './cardinal.js';
import { writeDecade } from './number-pair.js';
import { parseQuantity, quantityText } from './quantity.js';
import { type Written } from './rewrite.js';
import { type Tokens } from './token.js';

/**
 * A number that nothing else explains. One to nine stay words ("one of them", "two dogs"), and so do "a hundred" and
 * "a million" on their own.
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
