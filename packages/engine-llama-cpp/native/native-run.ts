import koffi from 'koffi';
import { type CLibrary, type NativeBatch, type Pointer } from './c-library.js';

/** Tokens of one run in native memory, written anew for every run. */
export class NativeRun {
  readonly #batch: NativeBatch;
  readonly #tokens: Int32Array;
  readonly #positions: Int32Array;
  readonly #sequences: Int32Array;
  readonly #draws: Int8Array;
  count = 0;

  constructor(library: CLibrary, most: number) {
    this.#batch = library.newBatch(most, 0, 1);
    const numbers = (memory: Pointer): Int32Array => new Int32Array(koffi.view(memory, 4 * most));
    const sequences = koffi.alloc('int32_t', most) as Pointer;
    this.#tokens = numbers(this.#batch.token);
    this.#positions = numbers(this.#batch.pos);
    this.#sequences = numbers(sequences);
    this.#draws = new Int8Array(koffi.view(this.#batch.logits, most));
    numbers(this.#batch.n_seq_id).fill(1);
    const first = koffi.address(sequences);
    new BigUint64Array(koffi.view(this.#batch.seq_id, 8 * most)).forEach((_, at, places) => {
      places[at] = first + BigInt(4 * at);
    });
  }

  get native(): NativeBatch {
    return { ...this.#batch, n_tokens: this.count };
  }

  clear(): void {
    this.count = 0;
  }

  /** @param draws 1: the output of each is wanted */
  add(
    sequence: number,
    position: number,
    tokens: Uint32Array | Int32Array,
    draws: 0 | 1 = 0,
  ): void {
    const at = this.count;
    this.count += tokens.length;
    if (this.count > this.#tokens.length) throw new RangeError('Tokens exceed the batch.');
    this.#tokens.set(tokens, at);
    this.#sequences.fill(sequence, at, this.count);
    this.#draws.fill(draws, at, this.count);
    for (let index = 0; index < tokens.length; index++)
      this.#positions[at + index] = position + index;
  }

  /** Wants the output of the token at this place. @returns the place */
  draw(place: number): number {
    this.#draws[place] = 1;
    return place;
  }
}
