import { type ToolCall, ToolCallReader } from './tool-call-reader.js';
import { type ToolForm } from '@switchyard/engine-api/text-backend.port.js';
import { heldSuffix } from './answer-text.js';

const OPEN = '<think>';
const CLOSE = '</think>';

interface ReadReasoning {
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

/** What a part of an answer is: said, thought, or calls of tools. */
export interface AnswerPart {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly ToolCall[];
}

export const NOTHING: AnswerPart = { content: '', reasoning: '', calls: [] };

export const joined = (parts: readonly AnswerPart[]): AnswerPart => ({
  content: parts.map(({ content }) => content).join(''),
  reasoning: parts.map(({ reasoning }) => reasoning).join(''),
  calls: parts.flatMap(({ calls }) => calls),
});

/** Tells the parts of an answer apart while it comes. */
export interface AnswerReader {
  take(text: string): AnswerPart;
  /** The answer has ended. */
  flush(): AnswerPart;
}

export interface ReaderOptions {
  /** Thoughts are separated from the answer; inside: it begins with them. */
  readonly thinking?: 'possible' | 'inside' | undefined;
  /** Calls are looked for; `texts`: `TOOL/PARAMETER` whose values are texts. */
  readonly tools?: { readonly texts: readonly string[] };
  /** Of the model, in a chat. */
  readonly toolForm?: ToolForm | undefined;
}

/** Thoughts first, where the model has them; then text and calls, where tools are. */
export class PlainReader implements AnswerReader {
  readonly #reasoning: ReasoningReader | undefined;
  readonly #calls: ToolCallReader | undefined;

  constructor({ thinking, tools, toolForm }: ReaderOptions) {
    this.#reasoning = thinking && new ReasoningReader(thinking === 'inside');
    this.#calls = tools && new ToolCallReader(toolForm, tools.texts);
  }

  take(text: string): AnswerPart {
    return this.#part(this.#reasoning?.take(text) ?? { reasoning: '', content: text });
  }

  flush(): AnswerPart {
    const last = this.#part(this.#reasoning?.flush() ?? NOTHING);
    return joined([last, { ...NOTHING, ...this.#calls?.flush() }]);
  }

  #part({ reasoning, content }: ReadReasoning): AnswerPart {
    return { ...(this.#calls?.take(content) ?? { content, calls: [] }), reasoning };
  }
}
