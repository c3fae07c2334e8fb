import {
  belowHundred,
  isolated,
  looksLikeTime,
  type NumberPair,
  pairText,
  parsePair,
} from './cardinal.js';
import {
  continued,
  continuesWith,
  type Tokens,
  wordBefore,
  type Written,
} from './token.js';
import { isNumeric, isZeroLetter, TEENS, UNITS } from './vocabulary.js';

const BEFORE_TIMES = new Set([
  'at',
  'by',
  'until',
  'till',
  'before',
  'after',
  'around',
  'from',
  'since',
]);
const BEFORE_YEARS = new Set([
  'in',
  'year',
  'of',
  'circa',
  'room',
  'flight',
  'route',
  'number',
]);
const BETWEEN_TIMES = new Set(['to', 'until', 'till', 'through', 'and', 'or']);

/**
 * "three thirty p m" → 3:30 p.m., "quarter to five" → 4:45, "from nine thirty to eleven"
 * → from 9:30 to eleven
 */
export function writeTime(tokens: Tokens, at: number): Written | undefined {
  const first =
    relativeTime(tokens, at) ?? militaryTime(tokens, at) ?? clockTime(tokens, at);
  if (!first) return undefined;
  // "nine thirty to five fifteen": the first time decides what the second is.
  const second = BETWEEN_TIMES.has(continued(tokens, first.end))
    ? plainClock(tokens, first.end + 1)
    : undefined;
  if (!second) return first;
  return {
    text: `${first.text} ${tokens[first.end]?.spoken ?? ''} ${second.text}`,
    end: second.end,
  };
}

function clockTime(tokens: Tokens, at: number): Written | undefined {
  const hour = hourAt(tokens, at);
  const whole = hour && (oClock(tokens, hour) ?? withMeridiem(tokens, hour));
  if (whole) return whole;
  const pair = parsePair(tokens, at);
  if (!pair || pair.low > 59 || pair.high > 23) return undefined;
  const clock: Written = { text: clockText(pair), end: pair.end };
  const marked = pair.high <= 12 ? withMeridiem(tokens, clock) : undefined;
  return marked ?? (saysTime(tokens, at, pair) ? clock : undefined);
}

/** The second time of a span. */
function plainClock(tokens: Tokens, at: number): Written | undefined {
  const pair = continued(tokens, at) === '' ? undefined : parsePair(tokens, at);
  if (!pair || pair.low > 59 || pair.high > 12 || isNumeric(continued(tokens, pair.end)))
    return undefined;
  const clock: Written = { text: clockText(pair), end: pair.end };
  return withMeridiem(tokens, clock) ?? clock;
}

/**
 * Without a mark only "at" and its like mark a time; 10 to 12 are times unless a
 * year is due.
 */
function saysTime(tokens: Tokens, at: number, pair: NumberPair): boolean {
  if (!isolated(tokens, at, pair)) return false;
  const before = wordBefore(tokens, at);
  if (pair.high > 12) return before === 'at';
  if (BEFORE_TIMES.has(before) || partOfDay(tokens, pair.end)) return true;
  return looksLikeTime(pair) && !BEFORE_YEARS.has(before);
}

function partOfDay(tokens: Tokens, at: number): boolean {
  const [first, second, third] = [at, at + 1, at + 2].map(index =>
    continued(tokens, index),
  );
  if (first === 'in' && second === 'the')
    return ['morning', 'afternoon', 'evening'].includes(third ?? '');
  return first === 'tonight' || (first === 'at' && second === 'night');
}

function oClock(tokens: Tokens, { text, end }: Written): Written | undefined {
  const word = continued(tokens, end);
  if (word === "o'clock" || word === 'oclock')
    return { text: `${text} o'clock`, end: end + 1 };
  const apart = continuesWith(tokens, end, ['o', 'clock']);
  return apart === undefined ? undefined : { text: `${text} o'clock`, end: apart };
}

function withMeridiem(tokens: Tokens, { text, end }: Written): Written | undefined {
  const [, half, joined] = /^([ap])(\.?m)?$/.exec(continued(tokens, end)) ?? [];
  if (half === undefined) return undefined;
  const last = joined === undefined ? end + 1 : end;
  if (joined === undefined && continued(tokens, last) !== 'm') return undefined;
  if (joined === 'm' && continued(tokens, last + 1) === 'i') return undefined; // "the first one am i"
  return { text: `${text} ${half}.m.`, end: last + 1 };
}

/** "[a] quarter to five", "half past nine", "twenty past two". */
function relativeTime(tokens: Tokens, at: number): Written | undefined {
  const from =
    tokens[at]?.word === 'a' && continued(tokens, at + 1) === 'quarter' ? at + 1 : at;
  const share = minutesShare(tokens, from);
  if (!share) return undefined;
  const to = continued(tokens, share.end) === 'to';
  if (!to && continued(tokens, share.end) !== 'past') return undefined;
  const hour =
    continued(tokens, share.end + 1) === '' ? undefined : hourAt(tokens, share.end + 1);
  if (!hour || isNumeric(continued(tokens, hour.end))) return undefined;
  const value = Number(hour.text);
  const clock: Written = {
    text: to
      ? `${value === 1 ? 12 : value - 1}:${60 - share.minutes}`
      : clockText({ high: value, low: share.minutes }),
    end: hour.end,
  };
  const marked = withMeridiem(tokens, clock);
  if (to && !marked && !(share.minutes === 15 && saysQuarterTo(tokens, at, hour.end)))
    return undefined;
  return marked ?? clock;
}

/** "give a quarter to five people" is generous, not late. */
const saysQuarterTo = (tokens: Tokens, at: number, end: number): boolean =>
  continued(tokens, end) === '' ||
  BEFORE_TIMES.has(wordBefore(tokens, at)) ||
  partOfDay(tokens, end);

function minutesShare(
  tokens: Tokens,
  at: number,
): { minutes: number; end: number } | undefined {
  const word = tokens[at]?.word;
  if (word === 'half' || word === 'quarter')
    return { minutes: word === 'half' ? 30 : 15, end: at + 1 };
  const minutes = belowHundred(tokens, at);
  if (
    !minutes ||
    minutes.value % 5 !== 0 ||
    minutes.value > 25 ||
    isNumeric(wordBefore(tokens, at))
  )
    return undefined;
  return {
    minutes: minutes.value,
    end: minutes.end + (continued(tokens, minutes.end) === 'minutes' ? 1 : 0),
  };
}

/**
 * "oh nine hundred", "zero six hundred". The rest ("fourteen hundred hours")
 * are numbers already.
 */
function militaryTime(tokens: Tokens, at: number): Written | undefined {
  const word = tokens[at]?.word ?? '';
  const hour =
    isZeroLetter(word) || word === 'zero'
      ? UNITS.get(continued(tokens, at + 1))
      : undefined;
  return hour !== undefined && continued(tokens, at + 2) === 'hundred'
    ? { text: `0${hour}00`, end: at + 3 }
    : undefined;
}

function hourAt(tokens: Tokens, at: number): Written | undefined {
  const word = tokens[at]?.word ?? '';
  const hour = UNITS.get(word) ?? TEENS.get(word) ?? 13;
  return hour <= 12 ? { text: String(hour), end: at + 1 } : undefined;
}

const clockText = (pair: Pick<NumberPair, 'high' | 'low'>): string =>
  `${pair.high}:${pairText({ ...pair, end: 0 }).slice(-2)}`;
