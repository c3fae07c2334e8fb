import { type ToolForm } from '@switchyard/engine-api/text-backend.port.js';
import { HeldText } from './answer-text.js';
import { ToolCallReader, type ToolCall, type MarkedForm } from './tool-call-reader.js';

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
class ReasoningReader {
  readonly #held = new HeldText();
  #state: 'before' | 'inside' | 'after';
  /** White space around the marks belongs to neither side. */
  #trims = true;

  constructor(isInside: boolean) {
    this.#state = isInside ? 'inside' : 'before';
  }

  take(text: string): ReadReasoning {
    const held = this.#held;
    held.add(text);
    if (this.#state === 'before' && !OPEN.startsWith(held.text.trimStart())) {
      this.#trims = held.text.trimStart().startsWith(OPEN);
      this.#state = this.#trims ? 'inside' : 'after';
      if (this.#trims) held.upTo([OPEN]);
    }
    if (this.#state === 'before') return { reasoning: '', content: '' };
    if (this.#state === 'after') return { reasoning: '', content: this.#said(held.rest()) };
    const thought = held.upTo([CLOSE]);
    if (thought === undefined)
      return { reasoning: this.#said(held.showable([CLOSE])), content: '' };
    const reasoning = this.#said(thought.before);
    this.#state = 'after';
    this.#trims = true;
    return { reasoning, content: this.#said(held.rest()) };
  }

  /** The answer has ended. @param isCut not by itself: half a mark is not told */
  flush(isCut: boolean): ReadReasoning {
    const held = isCut ? '' : this.#held.rest();
    return this.#state === 'inside'
      ? { reasoning: this.#said(held), content: '' }
      : { reasoning: '', content: held };
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

const joined = (parts: readonly AnswerPart[]): AnswerPart => ({
  content: parts.map(({ content }) => content).join(''),
  reasoning: parts.map(({ reasoning }) => reasoning).join(''),
  calls: parts.flatMap(({ calls }) => calls),
});

/** Separates thoughts, text and tool calls of an answer while it arrives. */
interface AnswerReader {
  take(text: string): AnswerPart;
  /** The answer has ended, with this text. @param isCut a limit or a stop string ended it */
  flush(text?: string, isCut?: boolean): AnswerPart;
}

export interface ReaderOptions {
  /** Whether thoughts are separated from the answer; `inside`: it begins with thoughts. */
  readonly thinking?: 'possible' | 'inside' | undefined;
  /** Present: tool calls are recognised. `texts`: each `TOOL/PARAMETER` whose value is text. */
  readonly tools?: { readonly texts: readonly string[] };
  /** How the model writes tool calls; in a chat only. */
  readonly toolForm?: ToolForm | undefined;
}

/** Thoughts first, where the model has them; then text and calls, where tools are. */
function plainReader(
  { thinking, tools }: ReaderOptions,
  form: MarkedForm = 'hermes',
): AnswerReader {
  const thoughts = thinking && new ReasoningReader(thinking === 'inside');
  const calls = tools && new ToolCallReader(form, tools.texts);
  const part = ({ reasoning, content }: ReadReasoning): AnswerPart => ({
    ...(calls?.take(content) ?? { content, calls: [] }),
    reasoning,
  });
  const take = (text: string): AnswerPart =>
    part(thoughts?.take(text) ?? { reasoning: '', content: text });
  return {
    take,
    flush: (text = '', isCut = false) =>
      joined([
        take(text),
        part(thoughts?.flush(isCut) ?? NOTHING),
        { ...NOTHING, ...calls?.flush(isCut) },
      ]),
  };
}

export const answerReader = (options: ReaderOptions): AnswerReader =>
  options.toolForm === 'gpt-oss' ? new HarmonyReader() : plainReader(options, options.toolForm);

const BEGINS = ['<|start|>', '<|channel|>'];
const MESSAGE = '<|message|>';
const ENDS = ['<|end|>', '<|call|>', ...BEGINS];
const RECIPIENT = /to=(?:functions\.)?([\w.-]+)/;

/**
 * Answers of gpt-oss: messages, each behind a header that says what it is. The channel
 * `analysis` holds thoughts, a recipient a call, all else is said. What has no header is
 * said, too: a grammar may demand it.
 */
class HarmonyReader implements AnswerReader {
  readonly #held = new HeldText();
  /** Header of the message that is being read; undefined between two messages. */
  #header: string | undefined = '';

  take(text: string): AnswerPart {
    this.#held.add(text);
    const parts: AnswerPart[] = [];
    for (;;) {
      const part = this.#header === undefined ? this.#begun() : this.#part(this.#header);
      if (part === undefined) return joined(parts);
      parts.push(part);
    }
  }

  flush(text = '', isCut = false): AnswerPart {
    const before = this.take(text);
    const rest = isCut ? '' : this.#held.rest();
    return this.#header === undefined ? before : joined([before, told(rest, this.#header)]);
  }

  /** Reads a header once it is complete. */
  #begun(): AnswerPart | undefined {
    this.#header = this.#held.upTo([MESSAGE])?.before;
    return this.#header === undefined ? undefined : NOTHING;
  }

  /** The message until its end, or as much of it as can be told. */
  #part(header: string): AnswerPart | undefined {
    const whole = this.#held.upTo(ENDS);
    if (whole !== undefined) {
      this.#header = undefined;
      return told(whole.before, header);
    }
    // The arguments of a call are told when all are there.
    if (RECIPIENT.test(header)) return undefined;
    const text = this.#held.showable(ENDS);
    return text === '' ? undefined : told(text, header);
  }
}

function told(text: string, header: string): AnswerPart {
  const name = RECIPIENT.exec(header)?.[1];
  if (name !== undefined) return { ...NOTHING, calls: [{ name, arguments: text.trim() || '{}' }] };
  if (header.includes('analysis')) return { ...NOTHING, reasoning: text };
  return { ...NOTHING, content: text };
}
