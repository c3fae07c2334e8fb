import { belowHundred, isArticleOne, parseCardinal } from './cardinal.js';
import { writeDate, writeOrdinal } from './date.js';
import { writeDigitRun } from './digit-run.js';
import { writeMeasure } from './measure.js';
import { writeMoney } from './money.js';
import { parseQuantity, quantityText } from './quantity.js';
import { writeTime } from './time.js';
import { asSpoken, both, named, type Phrase, rewrite, tokenize } from './token.js';
import { isNumeric, SCALES, TEENS, TENS } from './vocabulary.js';

/**
 * "two or three thousand": is the first 2 or 2000? "From one to two hundred" and "five or
 * six hundred" differ by sense alone, so they stay words. With millions the written form
 * leaves it just as open: "2 or 3 million".
 */
const writeSharedScale: Phrase<string> = first => {
  const low = isNumeric(first.previous.word) ? undefined : belowHundred(first);
  const link = low?.last.next;
  if (!link || !['to', 'or'].includes(link.word)) return undefined;
  const high = belowHundred(link.next);
  if (!high || high.value <= low.value) return undefined;
  const last = high.last.next;
  if (parseCardinal(link.next)?.last !== last) return undefined;
  if (last.word === 'hundred' || last.word === 'thousand')
    return { value: asSpoken(first, last), last };
  return SCALES.has(last.word)
    ? { value: `${low.value} ${link.word} ${high.value} ${last.word}`, last }
    : undefined;
};

/** "eighties", as in "nineteen eighties". */
const DECADES = [...TENS].map(
  ([name, value]) => [name.replace(/y$/, 'ies'), String(value)] as const,
);

/** "nineteen eighties" → 1980s, "eighteen hundreds" → 1800s */
const writeDecade = both(
  named(new Map([...TEENS, ['twenty', 20]])),
  named(new Map([...DECADES, ['hundreds', '00']])),
  (century, decade) => `${century}${decade}s`,
);

/**
 * A number that nothing else explains. One to nine stay words ("one of them", "two
 * dogs"), and so do "a hundred" and "a million" on their own.
 */
const writeNumber: Phrase<string> = first => {
  const decade = writeDecade(first);
  if (decade) return decade;
  const quantity = parseQuantity(first);
  if (!quantity) return undefined;
  const { value, sign, decimals, last } = quantity;
  const idiom = isArticleOne(first) && last === first.next;
  const small = value < 10 && sign === '' && decimals === '';
  return idiom || small ? undefined : { value: quantityText(quantity), last };
};

/**
 * From the most to the least particular: "at ten thirty" is a time before it is a number.
 */
export const ENGLISH_RULES: readonly Phrase<string>[] = [
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
export const englishNormalizer = {
  language: 'en',

  /** Spoken form → written form, in time linear in the length of the text. */
  normalize(text: string): string {
    const { first, tail } = tokenize(text);
    return rewrite(first, ENGLISH_RULES) + tail;
  },
};
