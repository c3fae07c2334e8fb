import { ReasoningReader } from './reasoning-reader.js';
import { type ToolCall, ToolCallReader } from './tool-call-reader.js';
import { type ToolForm } from '@switchyard/engine-api/text-backend.port.js';

/** What a part of an answer is: said, thought, or calls of tools. */
export interface AnswerPart {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly ToolCall[];
}

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
    const { reasoning, content } = this.#reasoning?.take(text) ?? {
      reasoning: '',
      content: text,
    };
    return { ...(this.#calls?.take(content) ?? { content, calls: [] }), reasoning };
  }

  flush(): AnswerPart {
    const { reasoning, content } = this.#reasoning?.flush() ?? {
      reasoning: '',
      content: '',
    };
    if (!this.#calls) return { reasoning, content, calls: [] };
    const taken = this.#calls.take(content);
    const rest = this.#calls.flush();
    return {
      reasoning,
      content: taken.content + rest.content,
      calls: [...taken.calls, ...rest.calls],
    };
  }
}
