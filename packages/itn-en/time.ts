import { belowHundred, isolated, type NumberPair, parsePair } from './cardinal.js';
import { lastOf, type Token, type Written } from './token.js';
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
export function writeTime(first: Token): Written | undefined {
  const time = relativeTime(first) ?? militaryTime(first) ?? clockTime(first);
  if (!time) return undefined;
  // "nine thirty to five fifteen": the first time decides what the second is.
  const link = time.last.next;
  const second = BETWEEN_TIMES.has(link.word) ? plainClock(link.next) : undefined;
  return second
    ? { text: `${time.text} ${link.spoken} ${second.text}`, last: second.last }
    : time;
}

function clockTime(first: Token): Written | undefined {
  const hour = hourAt(first);
  const whole = hour && (oClock(hour) ?? withMeridiem(hour));
  if (whole) return whole;
  const pair = parsePair(first);
  if (!pair || pair.low > 59 || pair.high > 23) return undefined;
  const clock: Written = { text: clockText(pair), last: pair.last };
  const marked = pair.high <= 12 ? withMeridiem(clock) : undefined;
  return marked ?? (saysTime(first, pair) ? clock : undefined);
}

/** The second time of a span. */
function plainClock(first: Token): Written | undefined {
  const pair = parsePair(first);
  if (!pair || pair.low > 59 || pair.high > 12 || isNumeric(pair.last.next.word))
    return undefined;
  const clock: Written = { text: clockText(pair), last: pair.last };
  return withMeridiem(clock) ?? clock;
}

/**
 * Without a mark only "at" and its like mark a time; 10 to 12 are times unless a
 * year is due.
 */
function saysTime(first: Token, pair: NumberPair): boolean {
  if (!isolated(first, pair)) return false;
  const before = first.previous.word;
  if (pair.high > 12) return before === 'at';
  if (BEFORE_TIMES.has(before) || partOfDay(pair.last)) return true;
  // Hours of a day that half of all "ten thirty" are about.
  return pair.high >= 10 && !BEFORE_YEARS.has(before);
}

function partOfDay({ next: { word, next: second } }: Token): boolean {
  if (word === 'in' && second.word === 'the')
    return ['morning', 'afternoon', 'evening'].includes(second.next.word);
  return word === 'tonight' || (word === 'at' && second.word === 'night');
}

function oClock({ text, last: { next } }: Written): Written | undefined {
  const joined = next.word === "o'clock" || next.word === 'oclock';
  const last = joined ? next : lastOf(['o', 'clock'], next);
  return last && { text: `${text} o'clock`, last };
}

function withMeridiem({ text, last: { next } }: Written): Written | undefined {
  const [, half, joined] = /^([ap])(\.?m)?$/.exec(next.word) ?? [];
  if (half === undefined) return undefined;
  const last = joined === undefined ? next.next : next;
  if (joined === undefined && last.word !== 'm') return undefined;
  if (joined === 'm' && last.next.word === 'i') return undefined; // "the first one am i"
  return { text: `${text} ${half}.m.`, last };
}

/** "[a] quarter to five", "half past nine", "twenty past two". */
function relativeTime(first: Token): Written | undefined {
  const share = minutesShare(first);
  if (!share) return undefined;
  const link = share.last.next;
  const to = link.word === 'to';
  if (!['to', 'past'].includes(link.word)) return undefined;
  const hour = hourAt(link.next);
  if (!hour || isNumeric(hour.last.next.word)) return undefined;
  const [high, low] = [Number(hour.text), share.minutes];
  const text = to ? clockBefore(high, low) : clockText({ high, low });
  const clock: Written = { text, last: hour.last };
  const isTime = !to || (low === 15 && saysQuarterTo(first, hour.last));
  return withMeridiem(clock) ?? (isTime ? clock : undefined);
}

const clockBefore = (hour: number, minutes: number): string =>
  `${hour === 1 ? 12 : hour - 1}:${60 - minutes}`;

/** "give a quarter to five people" is generous, not late. */
const saysQuarterTo = (first: Token, last: Token): boolean =>
  last.next.word === '' || BEFORE_TIMES.has(first.previous.word) || partOfDay(last);

/** "half", "[a] quarter", "twenty [minutes]". */
function minutesShare(first: Token): { minutes: number; last: Token } | undefined {
  const { word, next: second } = first;
  if (word === 'half') return { minutes: 30, last: first };
  if (word === 'quarter') return { minutes: 15, last: first };
  if (word === 'a' && second.word === 'quarter') return { minutes: 15, last: second };
  const minutes = belowHundred(first);
  if (
    !minutes ||
    minutes.value % 5 !== 0 ||
    minutes.value > 25 ||
    isNumeric(first.previous.word)
  )
    return undefined;
  const { next } = minutes.last;
  return {
    minutes: minutes.value,
    last: next.word === 'minutes' ? next : minutes.last,
  };
}

/**
 * "oh nine hundred", "zero six hundred". The rest ("fourteen hundred hours")
 * are numbers already.
 */
function militaryTime({ word, next }: Token): Written | undefined {
  const hour = isZeroLetter(word) || word === 'zero' ? UNITS.get(next.word) : undefined;
  return hour !== undefined && next.next.word === 'hundred'
    ? { text: `0${hour}00`, last: next.next }
    : undefined;
}

function hourAt(first: Token): Written | undefined {
  const hour = UNITS.get(first.word) ?? TEENS.get(first.word) ?? 13;
  return hour <= 12 ? { text: String(hour), last: first } : undefined;
}

const clockText = ({ high, low }: Pick<NumberPair, 'high' | 'low'>): string =>
  `${high}:${String(low).padStart(2, '0')}`;
