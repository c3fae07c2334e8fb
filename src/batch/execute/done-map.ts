/** Which plan indices have a durable result: one bit each. */
export class DoneMap {
  readonly #bits: Uint8Array;
  #count = 0;

  constructor(readonly size: number) {
    this.#bits = new Uint8Array(Math.ceil(size / 8));
  }

  get count(): number {
    return this.#count;
  }

  has(index: number): boolean {
    return (this.#bits[index >> 3]! & (1 << (index & 7))) !== 0;
  }

  /** @returns false when it was there before. @throws RangeError for an index of no line. */
  add(index: number): boolean {
    if (!Number.isInteger(index) || index < 0 || index >= this.size)
      throw new RangeError(`The batch has lines 0 to ${this.size - 1}, not ${index}.`);
    if (this.has(index)) return false;
    this.#bits[index >> 3]! |= 1 << (index & 7);
    this.#count += 1;
    return true;
  }
}
