import { rounded } from './percentiles.js';

/**
 * What every bench hands to `scripts/bench.mjs`, which adds its name and the commit and
 * prints one JSON line.
 */
export interface BenchResult {
  readonly results: Readonly<Record<string, unknown>>;
  readonly goals: readonly BenchGoal[];
}

export interface BenchGoal {
  readonly name: string;
  readonly value: number;
  /** The aim as text, e.g. ">= 0.97". */
  readonly aim: string;
  readonly met: boolean;
}

export const atLeast = (name: string, value: number, aim: number): BenchGoal => ({
  name,
  value: rounded(value),
  aim: `>= ${aim}`,
  met: value >= aim,
});

export const atMost = (name: string, value: number, aim: number): BenchGoal => ({
  name,
  value: rounded(value),
  aim: `<= ${aim}`,
  met: value <= aim,
});

/** Progress for the person who waits; the result line alone goes to standard output. */
export function progress(line: string): void {
  console.error(line);
}
