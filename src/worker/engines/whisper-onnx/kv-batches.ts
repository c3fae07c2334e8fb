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
 * The first `length` places of a cache row [heads, places, size]. A prompt that was padded to the right for its
 * neighbours' sake loses the padding here: the decoder is causal, so what stands before the padding never saw it.
 */
function cutRow({ tensor, row }: RowOf, length: number): RowTensor {
  const [, heads = 1, places = 1, size = 1] = tensor.dims;
  const data = sameKind(tensor.data, heads * length * size);
  for (let head = 0; head < heads; head++) {
    const from = (row * heads + head) * places * size;
    data.set(tensor.data.subarray(from, from + length * size) as never, head * length * size);
  }
  return { type: tensor.type, dims: [1, heads, length, size], data };
}

/** Cache tensors by input name, all with the same rows. */
export type CacheTensors = ReadonlyMap<string, RowTensor>;

/**
 * Rows that share tensors. A slot without an owner belonged to a row that has left; it is computed along and ignored.
 */
export interface KvBatch<T> {
  slots: readonly (T | undefined)[];
  tensors: CacheTensors;
}

/** The part of the cache that grows with every token; the other part comes from the audio and stays. */
export const grows = (name: string): boolean => name.includes('.decoder.');

/**
 * The key/value cache of all running rows, kept in the batches they run in. While no row joins or leaves a batch its
 * tensors go in and out of the decoder as they are. The cache of the audio is large (15 MB per row of Whisper tiny, 490
 * MB of large), so a batch is not copied for every row that leaves: only when half of it is gone, or when batches
 * merge.
 */
export class KvBatches<T> {
  readonly #batchOf = new Map<T, KvBatch<T>>();

  /** Rows of one run over whole prompts; `lengths` are their own lengths without the padding. */
  add(rows: readonly T[], tensors: CacheTensors, lengths: readonly number[]): void {
    for (const length of new Set(lengths)) {
      const members = rows.flatMap((_, row) => (lengths[row] === length ? [row] : []));
      const whole = members.length === rows.length && lengths.every(other => other === length);
      const own = whole ? tensors : mapTensors(tensors, (tensor, name) => pick(tensor, name, members, length));
      this.#keep(
        members.map(row => rows[row]!),
        own,
      );
    }
  }

  /** The batch with these rows, all of the same length: as it is if it can be, else gathered. */
  batchOf(members: readonly T[]): KvBatch<T> {
    const [batch] = members.map(member => this.#batchOf.get(member)!);
    if (batch && this.#fits(batch, members)) return batch;
    const places = members.map(member => {
      const from = this.#batchOf.get(member)!;
      return { from, row: from.slots.indexOf(member) };
    });
    const first = places[0]!.from;
    const tensors = mapTensors(first.tensors, (_, name) =>
      gatherRows(places.map(({ from, row }) => ({ tensor: from.tensors.get(name)!, row }))),
    );
    members.forEach(member => this.forget(member));
    return this.#keep([...members], tensors);
  }

  /** The decoder's answer takes the place of what went in; the audio's part stays. */
  advance(batch: KvBatch<T>, presents: CacheTensors): void {
    batch.tensors = mapTensors(batch.tensors, (tensor, name) => (grows(name) ? presents.get(name)! : tensor));
  }

  forget(member: T): void {
    const batch = this.#batchOf.get(member);
    if (batch === undefined) return;
    this.#batchOf.delete(member);
    batch.slots = batch.slots.map(slot => (slot === member ? undefined : slot));
  }

  #fits(batch: KvBatch<T>, members: readonly T[]): boolean {
    const live = batch.slots.filter(slot => slot !== undefined).length;
    return (
      live === members.length && live * 2 > batch.slots.length && members.every(one => this.#batchOf.get(one) === batch)
    );
  }

  #keep(slots: readonly T[], tensors: CacheTensors): KvBatch<T> {
    const batch = { slots, tensors };
    slots.forEach(member => this.#batchOf.set(member, batch));
    return batch;
  }
}

function pick(tensor: RowTensor, name: string, members: readonly number[], length: number): RowTensor {
  if (!grows(name)) return gatherRows(members.map(row => ({ tensor, row })));
  return gatherRows(members.map(row => ({ tensor: cutRow({ tensor, row }, length), row: 0 })));
}

function mapTensors(tensors: CacheTensors, change: (tensor: RowTensor, name: string) => RowTensor): CacheTensors {
  return new Map([...tensors].map(([name, tensor]) => [name, change(tensor, name)]));
}
