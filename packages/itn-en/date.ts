import { belowHundred, pairText, parseCardinal, parsePair } from './cardinal.js';
import { parseDigitRun } from './digit-run.js';
import { ordinalText, parseOrdinal } from './ordinal.js';
import { continued, type Token, type Tokens, wordBefore, type Written } from './token.js';

const MONTHS = new Set(
  'january february march april may june july august september october november december'.split(
    ' ',
  ),
);
/** Months that are verbs too: a number after them proves nothing. */
const VERB_MONTHS = new Set(['march', 'may']);
const BEFORE_DAYS = new Set(
  `on by of until till since before after from to through for between next last this every
   monday tuesday wednesday thursday friday saturday sunday`.split(/\s+/),
);

/**
 * "january fifth twenty twenty" → January 5, 2020; "the fourth of july" → the 4th of
 * July; "in may twenty ten" → in May 2010
 */
export function writeDate(tokens: Tokens, at: number): Written | undefined {
  return MONTHS.has(tokens[at]?.word ?? '')
    ? monthFirst(tokens, at)
    : dayFirst(tokens, at);
}

/** A year in words, where a year is expected. Bounded: at most one cardinal. */
function parseYear(tokens: Tokens, at: number): Written | undefined {
  const pair = parsePair(tokens, at);
  if (pair && pair.high >= 10) return { text: pairText(pair), end: pair.end };
  const cardinal = parseCardinal(tokens, at);
  if (
    cardinal &&
    cardinal.value >= 1000 &&
    cardinal.value < 3000 &&
    tokens[at]?.word !== 'a'
  ) {
    return { text: String(cardinal.value), end: cardinal.end };
  }
  const run = parseDigitRun(tokens, at);
  return run && /^(1[5-9]|20)\d\d$/.test(run.digits)
    ? { text: run.digits, end: run.end }
    : undefined;
}

interface Day extends Written {
  readonly ordinal: boolean;
  readonly value: number;
}

function monthFirst(tokens: Tokens, at: number): Written | undefined {
  const month = capitalized(tokens[at]);
  const day =
    continued(tokens, at + 1) === '' ? undefined : dayAfterMonth(tokens, at + 1);
  const year = day && yearAfterDay(tokens, day.end);
  if (day && year) return { text: `${month} ${day.text}, ${year.text}`, end: year.end };
  const bareYear =
    continued(tokens, at + 1) === '' ? undefined : parseYear(tokens, at + 1);
  if (bareYear && isMonth(tokens, at))
    return { text: `${month} ${bareYear.text}`, end: bareYear.end };
  return day && isDayOfMonth(tokens, at, day)
    ? { text: `${month} ${day.text}`, end: day.end }
    : undefined;
}

function dayFirst(tokens: Tokens, at: number): Written | undefined {
  const day = parseOrdinal(tokens, at);
  if (!day || day.value > 31 || continued(tokens, day.end) !== 'of') return undefined;
  const month = day.end + 1;
  if (!MONTHS.has(continued(tokens, month))) return undefined;
  const year = yearAfterDay(tokens, month + 1);
  const text = `${ordinalText(day.value)} of ${capitalized(tokens[month])}`;
  return year
    ? { text: `${text} ${year.text}`, end: year.end }
    : { text, end: month + 1 };
}

/** "fifth", "the fifth", "five". */
function dayAfterMonth(tokens: Tokens, at: number): Day | undefined {
  const the = tokens[at]?.word === 'the';
  const from = the ? at + 1 : at;
  if (continued(tokens, from) === '') return undefined;
  const ordinal = parseOrdinal(tokens, from);
  const day = ordinal ?? (the ? undefined : belowHundred(tokens, from));
  if (!day || day.value > 31) return undefined;
  const text = the ? `the ${ordinalText(day.value)}` : String(day.value);
  return { text, end: day.end, value: day.value, ordinal: ordinal !== undefined };
}

/** Recognisers that punctuate put a comma between day and year. */
function yearAfterDay(tokens: Tokens, at: number): Written | undefined {
  const comma = tokens[at - 1]?.after === ',' && tokens[at]?.before === '';
  return comma || continued(tokens, at) !== '' ? parseYear(tokens, at) : undefined;
}

/** "march two thousand soldiers" is an order, "in march two thousand" a date. */
function isMonth(tokens: Tokens, at: number): boolean {
  const before = wordBefore(tokens, at);
  return (
    !VERB_MONTHS.has(tokens[at]?.word ?? '') || before === 'in' || BEFORE_DAYS.has(before)
  );
}

/** "you may first want", "may five of them", "in june nineteen people": no dates. */
function isDayOfMonth(tokens: Tokens, at: number, { ordinal, value }: Day): boolean {
  const before = wordBefore(tokens, at);
  if (!VERB_MONTHS.has(tokens[at]?.word ?? '')) return ordinal || before !== 'in';
  return BEFORE_DAYS.has(before) || (ordinal && value > 3);
}

const capitalized = (month: Token | undefined): string =>
  `${month?.word.charAt(0).toUpperCase() ?? ''}${month?.word.slice(1) ?? ''}`;
