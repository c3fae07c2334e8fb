import { type GenerationEnd } from '@switchyard/engine-api/generation-request.js';
import {
  type Drawn,
  type TextSequence,
} from '@switchyard/engine-api/text-backend.port.js';

/**
 * A sequence that hears what becomes of it. None of these may throw; all come from inside
 * the step loop.
 */
export interface LiveSequence extends TextSequence {
  /**
   * It runs for the first time. @param cachedTokens of its prompt that need no computing
   */
  begun(cachedTokens: number): void;
  /**
   * A token of the answer, before it counts. @returns true when the answer is
   * complete with it
   */
  read(token: number, drawn: Drawn): boolean;
  /** The token just read counts. */
  emitted(): void;
  /** Once, and nothing afterwards. */
  ended(end: GenerationEnd): void;
}

interface SequenceEvent {
  readonly sequence: LiveSequence;
  /** Absent: a token counts. */
  readonly end?: GenerationEnd;
}

/**
 * Events for sequences, in order. While the scheduler takes the results of a step they
 * are held, until the next step is under way; events that arise during emission are
 * emitted after those before them.
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
