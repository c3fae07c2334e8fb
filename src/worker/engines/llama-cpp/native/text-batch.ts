import koffi from 'koffi';
import { type CLibrary, type NativeBatch, type Pointer } from './c-library.js';

/** A batch in native memory, filled anew for every run: several texts, each a sequence of its own. */
export class TextBatch {
  readonly #batch: NativeBatch;
  /** Where each token's sequence number stands. */
  readonly #sequences: readonly Pointer[];

  constructor(library: CLibrary, mostTokens: number) {
    this.#batch = library.newBatch(mostTokens, 0, 1);
    const { seq_id: sequences, n_seq_id: counts, logits } = this.#batch;
    this.#sequences = koffi.decode(sequences, 'void *', mostTokens) as Pointer[];
    koffi.encode(counts, koffi.array('int32_t', mostTokens), new Int32Array(mostTokens).fill(1));
    // The vector is made of all positions, or of one that only the model knows.
    koffi.encode(logits, koffi.array('int8_t', mostTokens), new Int8Array(mostTokens).fill(1));
  }

  /** @param counts tokens of each text, which stand one after another in `tokens` */
  filled(tokens: Int32Array, counts: readonly number[]): NativeBatch {
    const positions = new Int32Array(tokens.length);
    let at = 0;
    counts.forEach((count, sequence) => {
      for (let position = 0; position < count; position++, at++) {
        positions[at] = position;
        koffi.encode(this.#sequences[at]!, 'int32_t', sequence);
      }
    });
    koffi.encode(this.#batch.token, koffi.array('int32_t', tokens.length), tokens);
    koffi.encode(this.#batch.pos, koffi.array('int32_t', tokens.length), positions);
    return { ...this.#batch, n_tokens: tokens.length };
  }
}
