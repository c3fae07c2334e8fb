import { type StreamEvent } from '@switchyard/worker-protocol/call.codec.js';

/**
 * The end of a stream is a commit, so its last final may cover nothing: no speech, no
 * words. Emitted, it would answer the first commit meant for the next stream. Which final
 * is the last is known only at the end, so an empty one is held until then.
 */
export class TrailingFinal {
  #held: Extract<StreamEvent, { type: 'final' }> | undefined;
  #spoken = -1;

  /** @returns the events to emit now, in order. */
  before(event: StreamEvent, closing: boolean): StreamEvent[] {
    const held = this.#held ? [this.#held] : [];
    this.#held = undefined;
    if (event.type === 'speech_started') this.#spoken = event.utterance;
    if (!closing || event.type !== 'final' || event.text !== '' || event.utterance <= this.#spoken)
      return [...held, event];
    this.#held = event;
    return held;
  }

  /**
   * Second of the stream at which the final that was dropped ends; undefined:
   * all were emitted.
   */
  get endS(): number | undefined {
    return this.#held?.end;
  }
}
