/** What ONNX Runtime hands out and takes, as far as rows are concerned. */
export interface RowTensor {
  readonly type: string;
  readonly dims: readonly number[];
  readonly data: RowData;
}

/** Any typed array of numbers: 32 bit floats, or the platform's 16 bit ones. */
export interface RowData {
  readonly length: number;
  subarray(from: number, to: number): RowData;
  // Both sides come from one session, so they are of one kind; no type can say that of two variables.
  set(from: never, at: number): void;
}

/** A row of a batch tensor. */
export interface RowOf {
  readonly tensor: RowTensor;
  readonly row: number;
}

export function sizeOf(dims: readonly number[]): number {
  return dims.reduce((product, dim) => product * dim, 1);
}

function sameKind(data: RowData, length: number): RowData {
  return new (data.constructor as new (length: number) => RowData)(length);
}

/** One tensor of the rows named, in their order; all must have the same shape but for their count. */
export function gatherRows(rows: readonly RowOf[]): RowTensor {
  const { tensor } = rows[0]!;
  const rowDims = tensor.dims.slice(1);
  const size = sizeOf(rowDims);
  const data = sameKind(tensor.data, rows.length * size);
  rows.forEach((from, i) =>
    data.set(from.tensor.data.subarray(from.row * size, (from.row + 1) * size) as never, i * size),
  );
  return { type: tensor.type, dims: [rows.length, ...rowDims], data };
}

/**
 * The first `length` places of a cache row [heads, places, size]. A prompt that was padded to the right for its neighbours'
 * sake loses the padding here: the decoder is causal, so what stands before the padding never saw it.
 */
export function cutRow({ tensor, row }: RowOf, length: number): RowTensor {
  const [, heads = 1, places = 1, size = 1] = tensor.dims;
  const data = sameKind(tensor.data, heads * length * size);
  for (let head = 0; head < heads; head++) {
    const from = (row * heads + head) * places * size;
    data.set(tensor.data.subarray(from, from + length * size) as never, head * length * size);
  }
  return { type: tensor.type, dims: [1, heads, length, size], data };
}
