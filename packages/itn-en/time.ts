import { belowHundred, isolated, type NumberPair, pairText, parsePair } from './cardinal.js';
import { both, anyOf, named, type Phrase, type Read, said, type Token } from './token.js';
import { isNumeric, TEENS, UNITS, ZERO_LETTERS } from './vocabulary.js';

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
const BEFORE_YEARS = new Set(['in', 'year', 'of', 'circa', 'room', 'flight', 'route', 'number']);
const BETWEEN_TIMES = new Set(['to', 'until', 'till', 'through', 'and', 'or']);

/**
 * "three thirty p m" → 3:30 p.m., "quarter to five" → 4:45, "from nine thirty to eleven"
 * → from 9:30 to eleven
 */
export const writeTime: Phrase<string> = first => {
  const time = someTime(first);
  if (!time) return undefined;
  // "nine thirty to five fifteen": the first time decides what the second is.
  const link = time.last.next;
  const second = BETWEEN_TIMES.has(link.word) ? plainClock(link.next) : undefined;
  return second ? { ...second, value: `${time.value} ${link.spoken} ${second.value}` } : time;
};

/** 1..12 */
const hour = named(new Map([...UNITS, ...TEENS].filter(([, value]) => value <= 12)));

const oClock = said("o'clock", "o'clock", 'oclock', 'o clock');

/** Minutes, as an hour of the day has them. */
const clock: Phrase<NumberPair> = first => {
  const pair = parsePair(first);
  return pair && pair.value.low <= 59 ? pair : undefined;
};

const written = ({ value, last }: Read<NumberPair>): Read<string> => ({
  value: pairText(value, ':'),
  last,
});

const clockTime: Phrase<string> = first => {
  const whole = hour(first);
  const hours = whole && { ...whole, value: String(whole.value) };
  const exact = hours && (marked(hours, oClock) ?? marked(hours));
  if (exact) return exact;
  const pair = clock(first);
  if (!pair || pair.value.high > 23) return undefined;
  const time = written(pair);
  const half = pair.value.high <= 12 ? marked(time) : undefined;
  return half ?? (saysTime(first, pair) ? time : undefined);
};

/** The second time of a span. */
const plainClock: Phrase<string> = first => {
  const pair = clock(first);
  if (!pair || pair.value.high > 12 || isNumeric(pair.last.next.word)) return undefined;
  const time = written(pair);
  return marked(time) ?? time;
};

/**
 * Without a mark only "at" and its like mark a time; 10 to 12 are times unless a
 * year is due.
 */
function saysTime(first: Token, pair: Read<NumberPair>): boolean {
  if (!isolated(first, pair)) return false;
  const { high } = pair.value;
  const before = first.previous.word;
  if (high > 12) return before === 'at';
  if (BEFORE_TIMES.has(before) || partOfDay(pair.last)) return true;
  // Hours of a day that half of all "ten thirty" are about.
  return high >= 10 && !BEFORE_YEARS.has(before);
}

const PART_OF_DAY = said(
  true,
  'in the morning',
  'in the afternoon',
  'in the evening',
  'tonight',
  'at night',
);

const partOfDay = ({ next }: Token): boolean => PART_OF_DAY(next) !== undefined;

const meridiem = anyOf(
  said('a.m.', 'a m', 'a.m'),
  said('p.m.', 'p m', 'p.m'),
  // "the first one am i"
  first => (first.next.word === 'i' ? undefined : joinedMeridiem(first)),
);
const joinedMeridiem = anyOf(said('a.m.', 'am'), said('p.m.', 'pm'));

/** The time with what may stand behind it. */
function marked(
  { value, last }: Read<string>,
  mark: Phrase<string> = meridiem,
): Read<string> | undefined {
  const read = mark(last.next);
  return read && { ...read, value: `${value} ${read.value}` };
}

/** "[a] quarter to five", "half past nine", "twenty past two". */
const relativeTime: Phrase<string> = first => {
  const share = minutesShare(first);
  if (!share) return undefined;
  const link = share.last.next;
  const to = link.word === 'to';
  if (!['to', 'past'].includes(link.word)) return undefined;
  const whole = hour(link.next);
  if (!whole || isNumeric(whole.last.next.word)) return undefined;
  const [high, low] = [whole.value, share.value];
  const pair = to ? clockBefore(high, low) : { high, low };
  const time = written({ ...whole, value: pair });
  const isTime = !to || (low === 15 && saysQuarterTo(first, time.last));
  return marked(time) ?? (isTime ? time : undefined);
};

const clockBefore = (high: number, low: number): NumberPair => ({
  high: high === 1 ? 12 : high - 1,
  low: 60 - low,
});

/** False in "give a quarter to five people", which is no time. */
const saysQuarterTo = (first: Token, last: Token): boolean =>
  last.next.word === '' || BEFORE_TIMES.has(first.previous.word) || partOfDay(last);

/** "half", "[a] quarter", "twenty [minutes]". */
const minutesShare = anyOf(said(30, 'half'), said(15, 'quarter', 'a quarter'), first => {
  const minutes = belowHundred(first);
  if (!minutes || minutes.value % 5 !== 0 || minutes.value > 25 || isNumeric(first.previous.word))
    return undefined;
  const { next } = minutes.last;
  return next.word === 'minutes' ? { ...minutes, last: next } : minutes;
});

/**
 * "oh nine hundred", "zero six hundred". The rest ("fourteen hundred hours")
 * are numbers already.
 */
const militaryTime = both(
  named(new Map([...ZERO_LETTERS, ['zero', '0']])),
  both(named(UNITS), said('00', 'hundred'), (unit, hundred) => `${unit}${hundred}`),
  (zero, rest) => `${zero}${rest}`,
);

const someTime = anyOf(relativeTime, militaryTime, clockTime);
