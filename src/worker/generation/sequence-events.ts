import { type GenerationEnd } from '@switchyard/engine-api/generation-request.js';
import { type Drawn, type TextSequence } from '@switchyard/engine-api/text-backend.port.js';

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
  /** The newest token counts as part of the answer. */
  emitted(): void;
  /** The last event of a sequence, sent once. */
  ended(end: GenerationEnd): void;
}

/**
 * Events for sequences, in order. While the scheduler takes the results of a step they
 * are held, until the next step is under way; events that arise during emission are
 * emitted after those before them.
 */
export function sequenceEvents() {
  /** Events in order; one without `end` is an emitted token. */
  const events: { readonly sequence: LiveSequence; readonly end?: GenerationEnd }[] = [];
  let isHeld = false;
  /** Collects all events that `work` causes. */
  const hold = (work: () => void): void => {
    isHeld = true;
    try {
      work();
    } finally {
      isHeld = false;
    }
  };
  const flush = (): void =>
    hold(() => {
      for (let event = events.shift(); event; event = events.shift()) {
        const { sequence, end } = event;
        if (end) sequence.ended(end);
        else sequence.emitted();
      }
    });
  return {
    hold,
    flush,
    emit: (event: (typeof events)[number]): void => {
      events.push(event);
      if (!isHeld) flush();
    },
    get waiting(): number {
      return events.length;
    },
  };
}
