import { DIGITS, isZeroLetter, SCALES } from './vocabulary.js';
import { asSpoken, type Token, type Written } from './token.js';

const REPEATS: ReadonlyMap<string, number> = new Map([
  ['double', 2],
  ['triple', 3],
]);
/** "room two one oh well": what follows "oh" when it is a sigh and no zero. */
const SIGHS = new Set(
  'well no my yes yeah god dear boy man okay sorry wait i and but'.split(' '),
);

/** Single spoken digits in a row, of any length: "four one five", "double oh seven". */
export const parseDigitRun = (first: Token): Written | undefined =>
  joined(digitSteps(first));

/** Runs of three and more: codes, room and phone numbers. One or two digits are words. */
export function writeDigitRun(first: Token): Written | undefined {
  const plus = first.word === 'plus';
  const run = standaloneRun(plus ? first.next : first);
  if (!run) return undefined;
  const { text, last } = run;
  if (plus) return text.length >= 7 ? { text: `+${text}`, last } : undefined;
  const startsWithOh = isZeroLetter(first.word);
  if (text.length < (startsWithOh ? 5 : 3)) return undefined;
  const counts = !startsWithOh && isCounting(text);
  return { text: counts ? asSpoken(first, last) : phoneNumber(text), last };
}

function digitSteps(first: Token): readonly Written[] {
  const steps: Written[] = [];
  for (let step = digitStep(first); step; step = digitStep(step.last.next))
    steps.push(step);
  const last = steps.at(-1)?.last;
  return last && isSigh(last) ? steps.slice(0, -1) : steps;
}

/** "five six seven thousand": the last digit counts the thousands. */
function standaloneRun(first: Token): Written | undefined {
  const steps = digitSteps(first);
  const next = steps.at(-1)?.last.next.word ?? '';
  const counts = next === 'hundred' || next === 'point' || SCALES.has(next);
  return joined(counts ? steps.slice(0, -1) : steps);
}

function joined(steps: readonly Written[]): Written | undefined {
  const last = steps.at(-1)?.last;
  return last && { text: steps.map(({ text }) => text).join(''), last };
}

function digitStep(first: Token): Written | undefined {
  const times = REPEATS.get(first.word) ?? 1;
  const last = times === 1 ? first : first.next;
  const digit = DIGITS.get(last.word);
  return digit === undefined ? undefined : { text: digit.repeat(times), last };
}

const isSigh = ({ word, next }: Token): boolean =>
  isZeroLetter(word) && SIGHS.has(next.word);

/** "one two three", "three two one": someone counts. */
function isCounting(digits: string): boolean {
  const steps = [...digits]
    .slice(1)
    .map((digit, index) => Number(digit) - Number(digits[index]));
  return steps.every(step => step === 1) || steps.every(step => step === -1);
}

/**
 * Hyphens only where the North American plan is certain: area code and exchange start
 * with 2 to 9.
 */
function phoneNumber(digits: string): string {
  return digits.replace(
    /^(1?)([2-9]\d{2})([2-9]\d{2})(\d{4})$/,
    (_, trunk: string, ...parts: string[]) =>
      [...(trunk ? [trunk] : []), ...parts.slice(0, 3)].join('-'),
  );
}
