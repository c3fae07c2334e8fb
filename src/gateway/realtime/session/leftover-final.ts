import { type StreamEvent } from '../../../contracts/grpc/stream.codec.js';

/**
 * The end of a stream is a commit, so its last final may be about nothing: no speech, no words. Told, it would answer the first
 * commit meant for the next stream. Whether a final is the last one is known only when the stream has ended, so it is held until then.
 */
export class LeftoverFinal {
  #held: Extract<StreamEvent, { type: 'final' }> | undefined;
  #spoken = -1;

  /** @returns what to tell now, in order. */
  before(event: StreamEvent, closing: boolean): StreamEvent[] {
    const held = this.#held ? [this.#held] : [];
    this.#held = undefined;
    if (event.type === 'speech_started') this.#spoken = event.utterance;
    if (!closing || event.type !== 'final' || event.text !== '' || event.utterance <= this.#spoken)
      return [...held, event];
    this.#held = event;
    return held;
  }

  /** Second of the stream at which the final that was not told ends; undefined: everything was told. */
  get endS(): number | undefined {
    return this.#held?.end;
  }
}
