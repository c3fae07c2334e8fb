import { behindAnd, belowHundred, parseCardinal, parsePair } from './cardinal.js';
import { parseDigitRun } from './digit-run.js';
import { type Token, type Written } from './token.js';
import { isNumeric, ORDINALS, SCALES } from './vocabulary.js';

/** 1..9 */
const ORDINAL_UNITS = new Map([...ORDINALS].slice(0, 9));
const SCALE_ORDINALS: ReadonlyMap<string, number> = new Map([
  ['hundredth', 100],
  ...[...SCALES].map(([name, value]) => [`${name}th`, value] as const),
]);

/** "first", "twenty first", "one hundred and third", "two thousandth". */
function parseOrdinal(
  first: Token,
): { readonly value: number; readonly last: Token } | undefined {
  const alone = ORDINALS.get(first.word);
  if (alone !== undefined) return { value: alone, last: first };
  const cardinal = parseCardinal(first);
  if (!cardinal) return undefined;
  const { value, open } = cardinal;
  const { next } = cardinal.last;
  const scale = SCALE_ORDINALS.get(next.word);
  if (scale !== undefined && value > 0 && value < 1000)
    return { value: value * scale, last: next };
  if (open === 'none') return undefined;
  const last = open === 'tens' ? behindAnd(next) : next;
  const added = (open === 'tens' ? ORDINALS : ORDINAL_UNITS).get(last.word);
  return added === undefined ? undefined : { value: value + added, last };
}

/** Below ten they stay words: "second" and "third" are more than numbers. */
export function writeOrdinal(first: Token): Written | undefined {
  const ordinal = parseOrdinal(first);
  if (!ordinal || ordinal.value < 10) return undefined;
  const { value, last } = ordinal;
  const before = first.previous.word;
  if (isDuration(before, last) || isFraction(before, last)) return undefined;
  return { text: ordinalText(value), last };
}

/** 21 → "21st" */
function ordinalText(value: number): string {
  const teen = value % 100 >= 11 && value % 100 <= 13;
  const suffix = teen ? 'th' : (['th', 'st', 'nd', 'rd'][value % 10] ?? 'th');
  return `${value >= 10_000 ? value.toLocaleString('en-US') : value}${suffix}`;
}

/** "a twenty second delay" is a matter of seconds. */
const isDuration = (before: string, { word }: Token): boolean =>
  word === 'second' && ['a', 'every', 'each', 'per', 'another'].includes(before);

/** "one tenth", "a tenth of it", "one hundredth of a second". */
function isFraction(before: string, { word, next }: Token): boolean {
  if (SCALE_ORDINALS.has(word)) return next.word === 'of';
  return isNumeric(before) || (before === 'a' && next.word === 'of');
}

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
export const writeDate = (first: Token): Written | undefined =>
  MONTHS.has(first.word) ? monthFirst(first) : dayFirst(first);

/** A year in words, where a year is expected. Bounded: at most one cardinal. */
function parseYear(first: Token): Written | undefined {
  const pair = parsePair(first);
  if (pair && pair.high >= 10) return pair;
  const cardinal = parseCardinal(first);
  if (cardinal && cardinal.value >= 1000 && cardinal.value < 3000 && first.word !== 'a')
    return { text: String(cardinal.value), last: cardinal.last };
  const run = parseDigitRun(first);
  return run && /^(1[5-9]|20)\d\d$/.test(run.text) ? run : undefined;
}

interface Day extends Written {
  readonly ordinal: boolean;
  readonly value: number;
}

function monthFirst(first: Token): Written | undefined {
  const month = capitalized(first);
  const day = dayAfterMonth(first.next);
  const year = day && yearAfterDay(day.last);
  if (day && year)
    return { text: `${month} ${day.text}, ${year.text}`, last: year.last };
  const bareYear = parseYear(first.next);
  if (bareYear && isMonth(first))
    return { text: `${month} ${bareYear.text}`, last: bareYear.last };
  return day && isDayOfMonth(first, day)
    ? { text: `${month} ${day.text}`, last: day.last }
    : undefined;
}

function dayFirst(first: Token): Written | undefined {
  const day = parseOrdinal(first);
  if (!day || day.value > 31 || day.last.next.word !== 'of') return undefined;
  const month = day.last.next.next;
  if (!MONTHS.has(month.word)) return undefined;
  const year = yearAfterDay(month);
  const text = `${ordinalText(day.value)} of ${capitalized(month)}`;
  return year
    ? { text: `${text} ${year.text}`, last: year.last }
    : { text, last: month };
}

/** "fifth", "the fifth", "five". */
function dayAfterMonth(first: Token): Day | undefined {
  const the = first.word === 'the';
  const ordinal = parseOrdinal(the ? first.next : first);
  const day = ordinal ?? (the ? undefined : belowHundred(first));
  if (!day || day.value > 31) return undefined;
  const { value, last } = day;
  const text = the ? `the ${ordinalText(value)}` : String(value);
  return { text, last, value, ordinal: ordinal !== undefined };
}

/** Recognisers that punctuate put a comma between day and year. */
function yearAfterDay({ after, next, following }: Token): Written | undefined {
  const comma = after === ',' && following?.before === '';
  return parseYear(comma ? following : next);
}

/** "march two thousand soldiers" is an order, "in march two thousand" a date. */
function isMonth({ word, previous }: Token): boolean {
  const before = previous.word;
  return !VERB_MONTHS.has(word) || before === 'in' || BEFORE_DAYS.has(before);
}

/** "you may first want", "may five of them", "in june nineteen people": no dates. */
function isDayOfMonth({ word, previous }: Token, { ordinal, value }: Day): boolean {
  if (!VERB_MONTHS.has(word)) return ordinal || previous.word !== 'in';
  return BEFORE_DAYS.has(previous.word) || (ordinal && value > 3);
}

const capitalized = ({ word }: Token): string =>
  word.charAt(0).toUpperCase() + word.slice(1);
