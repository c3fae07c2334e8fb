import { type StepItem } from '../../../core/iteration/generation-plan.js';
import { type TextSequence } from '../../generation/text-backend.port.js';
import { type WireSampling } from './llama-protocol.js';
import { wireSampling } from './wire-sampling.js';

/**
 * All tokens of each sequence, prompt and answer. A plan names only those that go through the model now; what a slot turns out
 * to lack, and what penalties and grammar go on from, is read here.
 */
export class SequenceStore {
  readonly #tokens = new WeakMap<TextSequence, number[]>();
  readonly #sampling = new WeakMap<TextSequence, WireSampling>();

  /** The tokens of an item; all that is known of its sequence comes back. Where it draws, nothing is known behind them. */
  note({ request, position, count, tokens, sample }: StepItem<TextSequence>): readonly number[] {
    const known = this.#of(request);
    if (position > known.length) throw new Error(`Position ${position} of a sequence with ${known.length} tokens.`);
    tokens.forEach((token, index) => (known[position + index] = token));
    if (sample) known.length = Math.min(known.length, position + count);
    return known;
  }

  drew(sequence: TextSequence, token: number): void {
    this.#of(sequence).push(token);
  }

  /** What was drawn so far, of a sequence that draws next. */
  answer(sequence: TextSequence): Uint32Array {
    return Uint32Array.from(this.#of(sequence).slice(sequence.prompt.length));
  }

  /** @throws DomainError invalid_value: a grammar that cannot be held. */
  sampling(sequence: TextSequence): WireSampling {
    const known = this.#sampling.get(sequence) ?? wireSampling(sequence.sampling);
    this.#sampling.set(sequence, known);
    return known;
  }

  #of(sequence: TextSequence): number[] {
    const known = this.#tokens.get(sequence) ?? [...sequence.prompt];
    this.#tokens.set(sequence, known);
    return known;
  }
}
