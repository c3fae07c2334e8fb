import { writeDate } from './date.js';
import { writeDigitRun } from './digit-run.js';
import { writeMeasure } from './measure.js';
import { writeMoney } from './money.js';
import { writeOrdinal } from './ordinal.js';
import { writeTime } from './time.js';
import {
  rewrite,
  type Rule,
  type Token,
  asSpoken,
  continued,
  type Tokens,
  wordBefore,
  type Written,
} from './token.js';
import { belowHundred, isArticleOne, parseCardinal, writeDecade } from './cardinal.js';
import { parseQuantity, quantityText } from './quantity.js';
import { isNumeric, SCALES } from './vocabulary.js';

/**
 * "two or three thousand": is the first 2 or 2000? "From one to two hundred" and "five or
 * six hundred" differ by sense alone, so they stay words. With millions the written form
 * leaves it just as open: "2 or 3 million".
 */
function writeSharedScale(tokens: Tokens, at: number): Written | undefined {
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
function writeNumber(tokens: Tokens, at: number): Written | undefined {
  const decade = writeDecade(tokens, at);
  if (decade) return decade;
  const quantity = parseQuantity(tokens, at);
  if (!quantity) return undefined;
  const idiom = isArticleOne(tokens, at) && quantity.end === at + 2;
  const small = quantity.value < 10 && quantity.sign === '' && quantity.decimals === '';
  return idiom || small ? undefined : { text: quantityText(quantity), end: quantity.end };
}

interface TokenizedText {
  readonly tokens: readonly Token[];
  /** White space after the last token. */
  readonly tail: string;
}

const WORD_CHARACTER = /[\p{L}\p{N}]/u;

/**
 * Cuts at white space and at hyphens inside words. Linear: no pattern here can look at
 * a character twice.
 */
export function tokenize(text: string): TokenizedText {
  const tokens: Token[] = [];
  let end = 0;
  for (const { 0: chunk, index } of text.matchAll(/\S+/g)) {
    pushChunk(tokens, chunk, text.slice(end, index));
    end = index + chunk.length;
  }
  return { tokens, tail: text.slice(end) };
}

function pushChunk(tokens: Token[], chunk: string, gap: string): void {
  let from = 0;
  let to = chunk.length;
  while (from < to && !WORD_CHARACTER.test(chunk.charAt(from))) from += 1;
  while (to > from && !WORD_CHARACTER.test(chunk.charAt(to - 1))) to -= 1;
  const parts = chunk.slice(from, to).split('-');
  parts.forEach((spoken, index) => {
    tokens.push({
      gap: index === 0 ? gap : '-',
      before: index === 0 ? chunk.slice(0, from) : '',
      spoken,
      after: index === parts.length - 1 ? chunk.slice(to) : '',
      word: spoken.toLowerCase().replaceAll('’', "'"),
    });
  });
}

/**
 * From the most to the least particular: "at ten thirty" is a time before it is a number.
 */
export const ENGLISH_RULES: readonly Rule[] = [
  writeDate,
  writeMoney,
  writeMeasure,
  writeSharedScale,
  writeTime,
  writeDigitRun,
  writeOrdinal,
  writeNumber,
];

/** English by rules, American conventions; when in doubt a word stays a word. */
export class EnglishNormalizer {
  readonly language = 'en';

  /** Spoken form → written form, in time linear in the length of the text. */
  normalize(text: string): string {
    const { tokens, tail } = tokenize(text);
    return rewrite(tokens, ENGLISH_RULES) + tail;
  }
}
