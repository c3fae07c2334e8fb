/** A running sequence. */
export interface RowPosition {
  /** Tokens in its cache. */
  readonly position: number;
  /** Steps that it was held so far. */
  readonly held: number;
}

export interface PositionGroups<T> {
  /** Groups that advance now, each in one native run; ascending positions. */
  readonly go: readonly (readonly T[])[];
  /** Sequences held until a younger group has caught up. */
  readonly hold: readonly T[];
}

/**
 * Groups for a backend whose rows must have equal past lengths (a decoder without position ids and attention mask).
 *
 * A run costs nearly the same for one row and for eight, so the number of runs counts. A group ahead is held while the
 * youngest group behind it catches up; then both continue in one run. The wait is bounded: a sequence is held for at
 * most `maxHoldSteps` steps in its life, and not at all when the gap is wider than what is left of them.
 */
export function formPositionGroups<T extends RowPosition>(
  running: readonly T[],
  maxHoldSteps: number,
): PositionGroups<T> {
  const go: (readonly T[])[] = [];
  const hold: T[] = [];
  let base = 0;
  for (const group of byPosition(running)) {
    const position = group[0]!.position;
    const left = maxHoldSteps - Math.max(...group.map(({ held }) => held));
    if (go.length > 0 && position - base <= left) {
      hold.push(...group);
    } else {
      base = position;
      go.push(group);
    }
  }
  return { go, hold };
}

function byPosition<T extends RowPosition>(running: readonly T[]): (readonly T[])[] {
  const groups = new Map<number, T[]>();
  for (const sequence of running) {
    const group = groups.get(sequence.position);
    if (group) group.push(sequence);
    else groups.set(sequence.position, [sequence]);
  }
  return [...groups.values()].sort((a, b) => a[0]!.position - b[0]!.position);
}
