import { type GenerationEnd } from '../../core/iteration/generation-request.js';
import { type LiveSequence } from './live-sequence.js';

interface News {
  readonly sequence: LiveSequence;
  /** Absent: a token counts. */
  readonly end?: GenerationEnd;
}

/**
 * What sequences are to hear, in order. It waits while the scheduler learns what a step came to, until the next step is under way;
 * news that come while others are told stand behind them.
 */
export class StepNews {
  readonly #news: News[] = [];
  #isHeld = false;

  get waiting(): number {
    return this.#news.length;
  }

  /** All that is heard meanwhile waits. */
  hold(work: () => void): void {
    this.#isHeld = true;
    try {
      work();
    } finally {
      this.#isHeld = false;
    }
  }

  hear(news: News): void {
    this.#news.push(news);
    if (!this.#isHeld) this.spread();
  }

  spread(): void {
    this.hold(() => {
      for (let news = this.#news.shift(); news; news = this.#news.shift()) {
        const { sequence, end } = news;
        if (end) sequence.ended(end);
        else sequence.emitted();
      }
    });
  }
}
