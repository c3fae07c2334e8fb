import { type Fields } from '@switchyard/engine-api/is-object.js';
import koffi from 'koffi';
import { type Pointer } from './c-library.js';

/**
 * Ends native runs whose results nobody wants. Before each operation of its graph, llama.cpp's
 * CPU backend calls a function of C with a pointer, and ends the run with code 2 where it
 * returns true. JavaScript cannot be called on that thread; `strlen` can: of a text of at most
 * one byte it returns 1 where the byte is set, and else 0.
 */
export class RunStop {
  readonly #text: Pointer = koffi.alloc('uint8_t', 2) as Pointer;
  readonly #bytes = new Uint8Array(koffi.view(this.#text, 2)).fill(0);
  /** Number of the run that computes; Infinity before the first. */
  #current = Infinity;
  #newest = 0;

  /** Fields of `llama_context_params`. Empty where the C library lacks the function. */
  get params(): Fields {
    try {
      const strlen = koffi.load(null).symbol('strlen', 'void') as Pointer;
      return { abort_callback: strlen, abort_callback_data: this.#text };
    } catch {
      return {};
    }
  }

  get raised(): boolean {
    return this.#bytes[0] === 1;
  }

  /** A run with this number computes from now on. */
  begin(run: number): void {
    this.#current = run;
    this.#write();
  }

  /** All runs up to this one end, also those that have not begun. */
  stop(newest: number): void {
    this.#newest = Math.max(this.#newest, newest);
    this.#write();
  }

  #write(): void {
    this.#bytes[0] = this.#current <= this.#newest ? 1 : 0;
  }
}
