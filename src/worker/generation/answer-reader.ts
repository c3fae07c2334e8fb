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
interface AnswerPart {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly ToolCall[];
}

const NOTHING: AnswerPart = { content: '', reasoning: '', calls: [] };

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

const BEGINS = ['<|start|>', '<|channel|>'];
const MESSAGE = '<|message|>';
const ENDS = ['<|end|>', '<|call|>', ...BEGINS];
const RECIPIENT = /to=(?:functions\.)?([\w.-]+)/;

/**
 * Answers of gpt-oss: messages, each behind a header that says what it is. The channel
 * `analysis` holds thoughts, a recipient a call, all else is said. What has no header is
 * said, too: a grammar may demand it.
 */
export class HarmonyReader implements AnswerReader {
  #held = '';
  /** Of the message that is read; undefined: between two. */
  #header: string | undefined = '';

  take(text: string): AnswerPart {
    this.#held += text;
    const parts: AnswerPart[] = [];
    for (;;) {
      const part = this.#header === undefined ? this.#begun() : this.#part(this.#header);
      if (part === undefined) return joined(parts);
      parts.push(part);
    }
  }

  flush(): AnswerPart {
    const rest = this.#held;
    this.#held = '';
    return this.#header === undefined ? NOTHING : told(rest, this.#header);
  }

  /** Reads a header, once it is whole. */
  #begun(): AnswerPart | undefined {
    const at = this.#held.indexOf(MESSAGE);
    if (at < 0) return undefined;
    this.#header = this.#held.slice(0, at);
    this.#held = this.#held.slice(at + MESSAGE.length);
    return NOTHING;
  }

  /** The message until its end, or as much of it as can be told. */
  #part(header: string): AnswerPart | undefined {
    const at = Math.min(
      ...ENDS.map(mark => this.#held.indexOf(mark)).map(at => (at < 0 ? Infinity : at)),
    );
    if (at === Infinity) {
      const length = this.#held.length - heldSuffix(this.#held, ENDS);
      // The arguments of a call are told when all are there.
      if (length === 0 || RECIPIENT.test(header)) return undefined;
      const part = told(this.#held.slice(0, length), header);
      this.#held = this.#held.slice(length);
      return part;
    }
    const part = told(this.#held.slice(0, at), header);
    this.#held = this.#held.slice(at);
    this.#header = undefined;
    return part;
  }
}

function told(text: string, header: string): AnswerPart {
  const name = RECIPIENT.exec(header)?.[1];
  if (name !== undefined)
    return { ...NOTHING, calls: [{ name, arguments: text.trim() || '{}' }] };
  if (header.includes('analysis')) return { ...NOTHING, reasoning: text };
  return { ...NOTHING, content: text };
}
