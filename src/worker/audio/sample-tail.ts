/** The end of a stream of samples, addressed by position in the stream; what is no longer needed is forgotten. */
export class SampleTail {
  #samples = new Int16Array(0);
  #from = 0;
  #to = 0;

  /** Position after the last sample. */
  get end(): number {
    return this.#to;
  }

  append(samples: Int16Array): void {
    const kept = this.#to - this.#from;
    if (kept + samples.length > this.#samples.length) this.#grow(kept + samples.length);
    this.#samples.set(samples, kept);
    this.#to += samples.length;
  }

  /** A copy of what is still there between two positions. */
  slice(from: number, to: number): Int16Array {
    return this.#samples.slice(Math.max(0, from - this.#from), Math.max(0, Math.min(to, this.#to) - this.#from));
  }

  forgetBefore(position: number): void {
    const gone = Math.min(position, this.#to) - this.#from;
    if (gone <= 0) return;
    this.#samples.copyWithin(0, gone, this.#to - this.#from);
    this.#from += gone;
  }

  #grow(needed: number): void {
    const larger = new Int16Array(Math.max(needed, this.#samples.length * 2, 8192));
    larger.set(this.#samples.subarray(0, this.#to - this.#from));
    this.#samples = larger;
  }
}
