import { quartiles } from '../support/percentiles.js';

/** The figures of every turn, by scene and contestant, in the order of the rounds. */
export type TurnTable<T extends Turn = Turn> = Record<string, Record<string, T[]>>;

type Turn = Record<string, number>;

/** Quartiles of every figure. */
export const summary = (table: TurnTable) =>
  mapped(table, rows => mapped(rows, turns => quartilesOf(turns)));

export const quartilesOf = (turns: readonly Turn[]) =>
  mapped(turns[0] ?? {}, (_, figure) => quartiles(turns.map(turn => turn[figure]!)));

/** Round by round, because a slow second hits both; their median. */
export function ratio<F extends string>(
  ours: readonly Record<F, number>[],
  theirs: typeof ours,
  figure: F,
): number {
  return quartiles(ours.map((turn, round) => turn[figure] / theirs[round]![figure])).p50;
}

export const mapped = <A, B>(
  record: Readonly<Record<string, A>>,
  make: (value: A, key: string) => B,
): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, make(value, key)]));
