import {
  behindAnd,
  belowHundred,
  isScale,
  pairText,
  parseCardinal,
  parsePair,
} from './cardinal.js';
import { parseDigitRun } from './digit-run.js';
import { named, type Phrase, type Read, type Token } from './token.js';
import { isNumeric, ORDINALS, SCALES, TENS } from './vocabulary.js';

/** 1..9 */
const ORDINAL_UNITS = new Map([...ORDINALS].slice(0, 9));
const SCALE_ORDINALS: ReadonlyMap<string, number> = new Map([
  ['hundredth', 100],
  ...[...SCALES].map(([name, value]) => [`${name}th`, value] as const),
]);

const simpleOrdinal = named(ORDINALS);

/** "first", "twenty first", "one hundred and third", "two thousandth". */
const parseOrdinal: Phrase<number> = first => {
  const simple = simpleOrdinal(first);
  if (simple) return simple;
  const cardinal = parseCardinal(first);
  if (!cardinal) return undefined;
  const { value } = cardinal;
  const { word, next } = cardinal.last;
  const scale = SCALE_ORDINALS.get(next.word);
  if (scale !== undefined && value > 0 && value < 1000) return { value: value * scale, last: next };
  // What could still have followed: units after "twenty", all below it after "hundred".
  const last = isScale(word) ? behindAnd(next) : next;
  const below = isScale(word) ? ORDINALS : TENS.has(word) ? ORDINAL_UNITS : undefined;
  const added = below?.get(last.word);
  return added === undefined ? undefined : { value: value + added, last };
};

/** Ordinals below ten stay words: "second" and "third" have other meanings. */
export const writeOrdinal: Phrase<string> = first => {
  const ordinal = parseOrdinal(first);
  if (!ordinal || ordinal.value < 10) return undefined;
  const { value, last } = ordinal;
  const before = first.previous.word;
  if (isDuration(before, last) || isFraction(before, last)) return undefined;
  return { value: ordinalText(value), last };
};

/** 21 → "21st" */
function ordinalText(value: number): string {
  const teen = value % 100 >= 11 && value % 100 <= 13;
  const suffix = teen ? 'th' : (['th', 'st', 'nd', 'rd'][value % 10] ?? 'th');
  return `${value >= 10_000 ? value.toLocaleString('en-US') : value}${suffix}`;
}

/** True in "a twenty second delay", where "second" is a unit. */
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
/** Months that are also verbs, so that a number after them need not be a day. */
const VERB_MONTHS = new Set(['march', 'may']);
const BEFORE_DAYS = new Set(
  `on by of until till since before after from to through for between next last this every
   monday tuesday wednesday thursday friday saturday sunday`.split(/\s+/),
);

/**
 * "january fifth twenty twenty" → January 5, 2020; "the fourth of july" → the 4th of
 * July; "in may twenty ten" → in May 2010
 */
export const writeDate: Phrase<string> = first =>
  MONTHS.has(first.word) ? monthFirst(first) : dayFirst(first);

/** A year in words, where a year is expected. Bounded: at most one cardinal. */
const parseYear: Phrase<string> = first => {
  const pair = parsePair(first);
  if (pair && pair.value.high >= 10) return { ...pair, value: pairText(pair.value) };
  const cardinal = parseCardinal(first);
  if (cardinal && cardinal.value >= 1000 && cardinal.value < 3000 && first.word !== 'a')
    return { ...cardinal, value: String(cardinal.value) };
  const run = parseDigitRun(first);
  return run && /^(1[5-9]|20)\d\d$/.test(run.value) ? run : undefined;
};

interface Day extends Read<number> {
  readonly text: string;
  readonly ordinal: boolean;
}

const monthFirst: Phrase<string> = first => {
  const month = capitalized(first);
  const day = dayAfterMonth(first.next);
  const year = day && yearAfterDay(day.last);
  if (day && year) return { ...year, value: `${month} ${day.text}, ${year.value}` };
  const bareYear = parseYear(first.next);
  if (bareYear && isMonth(first)) return { ...bareYear, value: `${month} ${bareYear.value}` };
  return day && isDayOfMonth(first, day)
    ? { value: `${month} ${day.text}`, last: day.last }
    : undefined;
};

const dayFirst: Phrase<string> = first => {
  const day = parseOrdinal(first);
  if (!day || day.value > 31 || day.last.next.word !== 'of') return undefined;
  const last = day.last.next.next;
  if (!MONTHS.has(last.word)) return undefined;
  const year = yearAfterDay(last);
  const text = `${ordinalText(day.value)} of ${capitalized(last)}`;
  return year ? { ...year, value: `${text} ${year.value}` } : { value: text, last };
};

/** "fifth", "the fifth", "five". */
function dayAfterMonth(first: Token): Day | undefined {
  const the = first.word === 'the';
  const ordinal = parseOrdinal(the ? first.next : first);
  const day = ordinal ?? (the ? undefined : belowHundred(first));
  if (!day || day.value > 31) return undefined;
  const text = the ? `the ${ordinalText(day.value)}` : String(day.value);
  return { ...day, text, ordinal: ordinal !== undefined };
}

/** Recognisers that punctuate put a comma between day and year. */
const yearAfterDay: Phrase<string> = ({ after, next, following }) => {
  const comma = after === ',' && following?.before === '';
  return parseYear(comma ? following : next);
};

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

const capitalized = ({ word }: Token): string => word.charAt(0).toUpperCase() + word.slice(1);
