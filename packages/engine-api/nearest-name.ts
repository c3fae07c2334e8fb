/** `, did you mean X?` for a misspelt name, or an empty text when nothing is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const ranked = known
    .map(candidate => ({
      candidate,
      distance: editDistance(name.toLowerCase(), candidate.toLowerCase()),
    }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best && best.distance <= Math.max(2, name.length / 3)
    ? `, did you mean ${best.candidate}?`
    : '';
}

/** Levenshtein: inserted, removed or replaced letters of a text, or words of a list. */
export function editDistance(a: ArrayLike<string>, b: ArrayLike<string>): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = at(previous, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, at(previous, column) + 1, at(current, column - 1) + 1));
    }
    previous = current;
  }
  return at(previous, b.length);
}

const at = (row: readonly number[], column: number): number => row[column] ?? Infinity;
