import { heldSuffix } from './answer-text.js';

const OPEN = '<think>';
const CLOSE = '</think>';

export interface ReadReasoning {
  readonly reasoning: string;
  readonly content: string;
}

/**
 * Separates what a model thinks, between `<think>` and `</think>` at the beginning of its
 * answer, from what it says. Some templates open it in the prompt: then the answer begins
 * inside.
 */
export class ReasoningReader {
  #held = '';
  #state: 'before' | 'inside' | 'after';
  /** White space around the marks is neither thought nor said. */
  #trims = true;

  constructor(isInside: boolean) {
    this.#state = isInside ? 'inside' : 'before';
  }

  take(text: string): ReadReasoning {
    if (this.#state === 'after') return { reasoning: '', content: this.#said(text) };
    this.#held += text;
    if (this.#state === 'before') {
      const begun = this.#held.trimStart();
      if (OPEN.startsWith(begun)) return { reasoning: '', content: '' };
      if (!begun.startsWith(OPEN)) return this.#over(0, '');
      this.#state = 'inside';
      this.#held = begun.slice(OPEN.length);
    }
    const at = this.#held.indexOf(CLOSE);
    if (at >= 0)
      return this.#over(at + CLOSE.length, this.#said(this.#held.slice(0, at)));
    const shown = this.#held.length - heldSuffix(this.#held, [CLOSE]);
    const reasoning = this.#said(this.#held.slice(0, shown));
    this.#held = this.#held.slice(shown);
    return { reasoning, content: '' };
  }

  /** The answer has ended. */
  flush(): ReadReasoning {
    const held = this.#held;
    this.#held = '';
    return this.#state === 'inside'
      ? { reasoning: this.#said(held), content: '' }
      : { reasoning: '', content: held };
  }

  #over(from: number, reasoning: string): ReadReasoning {
    this.#trims = from > 0;
    this.#state = 'after';
    const content = this.#said(this.#held.slice(from));
    this.#held = '';
    return { reasoning, content };
  }

  #said(text: string): string {
    if (!this.#trims) return text;
    const rest = text.trimStart();
    this.#trims = rest === '';
    return rest;
  }
}
