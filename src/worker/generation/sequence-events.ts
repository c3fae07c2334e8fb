import { type GenerationEnd } from '../../core/iteration/generation-request.js';
import { type LiveSequence } from './live-sequence.js';

interface SequenceEvent {
  readonly sequence: LiveSequence;
  /** Absent: a token counts. */
  readonly end?: GenerationEnd;
}

/**
 * Events for sequences, in order. While the scheduler takes the results of a step they are held, until the next step is
 * under way; events that arise during emission are emitted after those before them.
 */
export class SequenceEvents {
  readonly #events: SequenceEvent[] = [];
  #isHeld = false;

  get waiting(): number {
    return this.#events.length;
  }

  /** Holds all events that arise in `work`. */
  hold(work: () => void): void {
    this.#isHeld = true;
    try {
      work();
    } finally {
      this.#isHeld = false;
    }
  }

  emit(event: SequenceEvent): void {
    this.#events.push(event);
    if (!this.#isHeld) this.flush();
  }

  flush(): void {
    this.hold(() => {
      for (let event = this.#events.shift(); event; event = this.#events.shift()) {
        const { sequence, end } = event;
        if (end) sequence.ended(end);
        else sequence.emitted();
      }
    });
  }
}
