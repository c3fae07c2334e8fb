import { type InverseTextNormalizer } from '../inverse-text-normalizer.port.js';
import { writeDate } from './date.js';
import { writeDigitRun } from './digit-run.js';
import { writeMeasure } from './measure.js';
import { writeMoney } from './money.js';
import { writeNumber } from './number.js';
import { writeOrdinal } from './ordinal.js';
import { rewrite, type Rule } from './rewrite.js';
import { writeSharedScale } from './shared-scale.js';
import { writeTime } from './time.js';
import { tokenize } from './tokenizer.js';

/** From the most to the least particular: "at ten thirty" is a time before it is a number. */
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
export class EnglishNormalizer implements InverseTextNormalizer {
  readonly language = 'en';

  normalize(text: string): string {
    const { tokens, tail } = tokenize(text);
    return rewrite(tokens, ENGLISH_RULES) + tail;
  }
}
