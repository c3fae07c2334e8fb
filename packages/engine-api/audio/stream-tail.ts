const LEAST = 8192;

/**
 * The end of a stream of samples or bytes, addressed by position in the stream; what is no
 * longer needed is dropped. However small the pieces are, each sample is copied a few times
 * at most.
 */
export class StreamTail<Kept extends Int16Array | Uint8Array> {
  #kept: Kept;
  /** Index in `#kept` of the first element that is still kept. */
  #at = 0;
  #from = 0;
  #end = 0;

  constructor(private readonly empty: (length: number) => Kept) {
    this.#kept = empty(0);
  }

  /** Elements appended in all: the position after the last one. */
  get end(): number {
    return this.#end;
  }

  append(piece: Kept): void {
    const length = this.#end - this.#from;
    if (this.#at + length + piece.length > this.#kept.length) this.#makeRoom(piece.length);
    this.#kept.set(piece, this.#at + length);
    this.#end += piece.length;
  }

  /** The elements between two positions, as far as they are kept; valid until `append`. */
  view(first: number, to: number): Kept {
    const [from, end] = [Math.max(first, this.#from), Math.min(to, this.#end)];
    const shift = this.#at - this.#from;
    return this.#kept.subarray(from + shift, Math.max(from, end) + shift) as Kept;
  }

  dropBefore(position: number): void {
    const gone = Math.min(position, this.#end) - this.#from;
    if (gone <= 0) return;
    this.#at += gone;
    this.#from += gone;
  }

  /** At the front, if half of the memory is free then; else in twice the memory. */
  #makeRoom(more: number): void {
    const length = this.#end - this.#from;
    const kept = this.#kept.subarray(this.#at, this.#at + length);
    const needed = length + more;
    if (2 * needed > this.#kept.length) this.#kept = this.empty(Math.max(2 * needed, LEAST));
    this.#kept.set(kept);
    this.#at = 0;
  }
}
