/**
 * For each row the first column of the cheapest monotonic path through `cost` [rows × columns], as in OpenAI's reference
 * (whisper/timing.py): from corner to corner by steps right, down or both.
 */
export function firstColumns(cost: Float64Array, rows: number, columns: number): number[] {
  const width = columns + 1;
  const total = new Float64Array((rows + 1) * width).fill(Infinity);
  const from = new Uint8Array((rows + 1) * width);
  total[0] = 0;
  for (let column = 1; column <= columns; column++) {
    for (let row = 1; row <= rows; row++) {
      const at = row * width + column;
      const [both, down, right] = [total[at - width - 1]!, total[at - width]!, total[at - 1]!];
      const step = both < down && both < right ? 0 : down < both && down < right ? 1 : 2;
      from[at] = step;
      total[at] = cost[(row - 1) * columns + column - 1]! + Math.min(both, down, right);
    }
  }
  return backtrace(from, rows, columns);
}

function backtrace(from: Uint8Array, rows: number, columns: number): number[] {
  const first = Array<number>(rows).fill(0);
  let [row, column] = [rows, columns];
  while (row > 0 && column > 0) {
    first[row - 1] = column - 1;
    const step = from[row * (columns + 1) + column];
    if (step !== 2) row -= 1;
    if (step !== 1) column -= 1;
  }
  return first;
}

/** Median of `width` neighbours (odd) along a row, reflected at both ends. */
export function medianFilter(row: Float64Array, width: number): Float64Array {
  const half = (width - 1) / 2;
  if (row.length <= half) return row;
  const last = row.length - 1;
  return Float64Array.from(row, (_, i) => {
    const near = Array.from({ length: width }, (_unused, k) => {
      const at = Math.abs(i + k - half);
      return row[at > last ? 2 * last - at : at]!;
    });
    return near.sort((a, b) => a - b)[half]!;
  });
}
