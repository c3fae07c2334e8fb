import { DIGITS, isZeroLetter, SCALES } from './vocabulary.js';
import { asSpoken, continued, type Tokens, type Written } from './token.js';

interface DigitRun {
  readonly digits: string;
  readonly end: number;
}

const REPEATS: ReadonlyMap<string, number> = new Map([
  ['double', 2],
  ['triple', 3],
]);
/** "room two one oh well": what follows "oh" when it is a sigh and no zero. */
const SIGHS = new Set(
  'well no my yes yeah god dear boy man okay sorry wait i and but'.split(' '),
);

/** Single spoken digits in a row, of any length: "four one five", "double oh seven". */
export function parseDigitRun(tokens: Tokens, at: number): DigitRun | undefined {
  return joined(digitSteps(tokens, at));
}

/** Runs of three and more: codes, room and phone numbers. One or two digits are words. */
export function writeDigitRun(tokens: Tokens, at: number): Written | undefined {
  const plus = tokens[at]?.word === 'plus';
  if (plus && continued(tokens, at + 1) === '') return undefined;
  const run = standaloneRun(tokens, plus ? at + 1 : at);
  if (!run) return undefined;
  const { digits, end } = run;
  if (plus) return digits.length >= 7 ? { text: `+${digits}`, end } : undefined;
  const startsWithOh = isZeroLetter(tokens[at]?.word ?? '');
  if (digits.length < (startsWithOh ? 5 : 3)) return undefined;
  return {
    text:
      !startsWithOh && isCounting(digits)
        ? asSpoken(tokens, at, end)
        : phoneNumber(digits),
    end,
  };
}

function digitSteps(tokens: Tokens, at: number): readonly DigitRun[] {
  const steps: DigitRun[] = [];
  for (let step = digitStep(tokens, at, at); step; step = digitStep(tokens, at, step.end))
    steps.push(step);
  const last = steps.at(-1);
  return last && isSigh(tokens, last) ? steps.slice(0, -1) : steps;
}

/** "five six seven thousand": the last digit counts the thousands. */
function standaloneRun(tokens: Tokens, at: number): DigitRun | undefined {
  const steps = digitSteps(tokens, at);
  const next = continued(tokens, steps.at(-1)?.end ?? at);
  const own =
    next === 'hundred' || next === 'point' || SCALES.has(next)
      ? steps.slice(0, -1)
      : steps;
  return joined(own);
}

function joined(steps: readonly DigitRun[]): DigitRun | undefined {
  const last = steps.at(-1);
  return last && { digits: steps.map(({ digits }) => digits).join(''), end: last.end };
}

function digitStep(tokens: Tokens, start: number, at: number): DigitRun | undefined {
  const word = at === start ? (tokens[at]?.word ?? '') : continued(tokens, at);
  const times = REPEATS.get(word) ?? 1;
  const digit = DIGITS.get(times === 1 ? word : continued(tokens, at + 1));
  return digit === undefined
    ? undefined
    : { digits: digit.repeat(times), end: at + (times === 1 ? 1 : 2) };
}

const isSigh = (tokens: Tokens, { end }: DigitRun): boolean =>
  isZeroLetter(tokens[end - 1]?.word ?? '') && SIGHS.has(continued(tokens, end));

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
