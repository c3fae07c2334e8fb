import { isScale } from './cardinal.js';
import { asSpoken, both, anyOf, named, type Phrase, type Read, type Token } from './token.js';
import { DIGITS, ZERO_LETTERS } from './vocabulary.js';

const REPEATS: ReadonlyMap<string, number> = new Map([
  ['double', 2],
  ['triple', 3],
]);
/** "room two one oh well": what follows "oh" when it is a sigh and no zero. */
const SIGHS = new Set('well no my yes yeah god dear boy man okay sorry wait i and but'.split(' '));

/** Single spoken digits in a row, of any length: "four one five", "double oh seven". */
export const parseDigitRun: Phrase<string> = first => joined(digitSteps(first));

/** Runs of three and more: codes, room and phone numbers. One or two digits are words. */
export const writeDigitRun: Phrase<string> = first => {
  const plus = first.word === 'plus';
  const run = standaloneRun(plus ? first.next : first);
  if (!run) return undefined;
  const { value, last } = run;
  if (plus) return value.length >= 7 ? { value: `+${value}`, last } : undefined;
  const startsWithOh = ZERO_LETTERS.has(first.word);
  if (value.length < (startsWithOh ? 5 : 3)) return undefined;
  const counts = !startsWithOh && isCounting(value);
  return { value: counts ? asSpoken(first, last) : phoneNumber(value), last };
};

const digitStep = anyOf(
  named(DIGITS),
  both(named(REPEATS), named(DIGITS), (times, digit) => digit.repeat(times)),
);

function digitSteps(first: Token): readonly Read<string>[] {
  const steps: Read<string>[] = [];
  for (let step = digitStep(first); step; step = digitStep(step.last.next)) steps.push(step);
  const last = steps.at(-1)?.last;
  return last && isSigh(last) ? steps.slice(0, -1) : steps;
}

/** "five six seven thousand": the last digit counts the thousands. */
const standaloneRun: Phrase<string> = first => {
  const steps = digitSteps(first);
  const next = steps.at(-1)?.last.next.word ?? '';
  const counts = next === 'point' || isScale(next);
  return joined(counts ? steps.slice(0, -1) : steps);
};

function joined(steps: readonly Read<string>[]): Read<string> | undefined {
  const last = steps.at(-1)?.last;
  return last && { value: steps.map(({ value }) => value).join(''), last };
}

const isSigh = ({ word, next }: Token): boolean => ZERO_LETTERS.has(word) && SIGHS.has(next.word);

/** "one two three", "three two one": someone counts. */
function isCounting(digits: string): boolean {
  const steps = [...digits].slice(1).map((digit, index) => Number(digit) - Number(digits[index]));
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
