import { ReasoningReader, type ReadReasoning } from './reasoning-reader.js';
import { type ToolCall, ToolCallReader } from './tool-call-reader.js';
import { type ToolForm } from '@switchyard/engine-api/text-backend.port.js';

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
