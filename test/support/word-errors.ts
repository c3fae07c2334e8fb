/**
 * Words inserted, left out or replaced in `heard`, by edit distance; case and punctuation
 * do not count.
 */
export function wordErrors(said: string, heard: string): number {
  const [expected, found] = [words(said), words(heard)];
  let row = Array.from({ length: found.length + 1 }, (_, column) => column);
  for (const [line, word] of expected.entries()) {
    const next = [line + 1];
    for (const [column, other] of found.entries())
      next.push(
        Math.min(row[column + 1]! + 1, next[column]! + 1, row[column]! + (word === other ? 0 : 1)),
      );
    row = next;
  }
  return row.at(-1)!;
}

const words = (text: string): string[] => text.toLowerCase().match(/[a-z']+/g) ?? [];
