import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { isObject } from '@switchyard/engine-api/is-object.js';
import { jsonIn } from '@switchyard/engine-api/json-in.js';
import { type ToolForm } from '@switchyard/engine-api/text-backend.port.js';
import { HeldText } from './answer-text.js';

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

export interface ToolCall {
  readonly name: string;
  /** Arguments as JSON text, as SDKs expect them. */
  readonly arguments: string;
}

interface Marks {
  readonly open: string;
  /** The mark that ends it; absent: the next `open`, or the end of the answer. */
  readonly close?: string;
}

/** Forms with marks; `gpt-oss` has a reader of its own. */
type MarkedForm = Exclude<ToolForm, 'gpt-oss'>;

const TAGS: Marks = { open: '<tool_call>', close: '</tool_call>' };
const MARKS: Readonly<Record<MarkedForm, Marks>> = {
  hermes: TAGS,
  'qwen-xml': TAGS,
  llama3: { open: '<|python_tag|>' },
  mistral: { open: '[TOOL_CALLS]' },
  'mistral-args': { open: '[TOOL_CALLS]' },
};
/** How an answer of Llama 3 begins that is a call, and what may become that. */
const BARE = /^\s*\{\s*"(name|type)"/;
const NEARLY_BARE = /^\s*(\{\s*("\w{0,4})?)?$/;

/**
 * Finds the calls of tools in an answer, in the form that the model was trained on. What
 * looks like one and is none stays text. White space around calls is no text.
 */
class ToolCallReader {
  readonly #marks: Marks;
  readonly #held = new HeldText();
  /** The mark that opened the call that is being read; undefined: no call is. */
  #opened: string | undefined;
  /** Whether the whole answer may still be a call without a mark. */
  #mayBeBare: boolean;
  /** White space since the beginning or the last call; undefined: text came since. */
  #space: string | undefined = '';
  #hasCalls = false;

  /** @param texts names `TOOL/PARAMETER` of parameters whose values are texts, not JSON */
  constructor(
    form: MarkedForm,
    private readonly texts: readonly string[],
  ) {
    this.#marks = MARKS[form];
    this.#mayBeBare = form === 'llama3';
  }

  take(text: string) {
    this.#held.add(text);
    let content = '';
    const calls: ToolCall[] = [];
    if (this.#mayBeBare && !this.#decided()) return { content, calls };
    const { open, close = open } = this.#marks;
    for (;;) {
      const isText = this.#opened === undefined;
      const found = this.#held.upTo([isText ? open : close]);
      if (found === undefined) break;
      const said = isText ? found.before : this.#read(found.before, calls, this.#marks.close);
      content += this.#text(said);
      this.#opened = isText || found.mark === open ? open : undefined;
    }
    if (this.#opened === undefined) content += this.#text(this.#held.showable([open]));
    return { content, calls };
  }

  /**
   * The answer has ended: an unfinished call is text, unless it is whole but for its end.
   * @param isCut it would have gone on: what may become a call is not text
   */
  flush(isCut: boolean) {
    const rest = this.#held.rest();
    const calls: ToolCall[] = [];
    const said = this.#opened === undefined ? rest : this.#read(rest, calls);
    const content = isCut ? '' : this.#text(said);
    const space = this.#hasCalls ? '' : (this.#space ?? '');
    return { content: content || space, calls };
  }

  /** Holds white space back until text follows. */
  #text(said: string): string {
    if (this.#space === undefined) return said;
    const text = this.#space + said;
    const isSpace = text.trim() === '';
    this.#space = isSpace ? text : undefined;
    return isSpace ? '' : text;
  }

  /** Adds the calls in a marked text. @returns the text to show where it holds no call */
  #read(text: string, calls: ToolCall[], close = ''): string {
    const found = callsIn(text, this.texts);
    if (found.length === 0) return `${this.#opened}${text}${close}`;
    calls.push(...found);
    this.#hasCalls = true;
    this.#space = '';
    return '';
  }

  #decided(): boolean {
    const { text } = this.#held;
    if (NEARLY_BARE.test(text)) return false;
    if (BARE.test(text)) this.#opened = '';
    this.#mayBeBare = false;
    return true;
  }
}

/** Calls in what stands between marks, in any of the forms; none: it is a text. */
function callsIn(text: string, texts: readonly string[]): readonly ToolCall[] {
  const xml = /^\s*<function=([^>\s]+)>([^]*)<\/function>\s*$/.exec(text);
  if (xml) return [xmlCall(xml[1]!, xml[2]!, texts)];
  const named = /^\s*([\w.-]+)\s*(?:\[CALL_ID\]\s*\w*\s*)?(?:\[ARGS\])?\s*(\{[^]*\})\s*$/.exec(
    text,
  );
  if (named)
    return jsonIn(named[2]!) === undefined ? [] : [{ name: named[1]!, arguments: named[2]! }];
  // Several of Llama 3 stand behind each other.
  const value = jsonIn(text) ?? jsonIn(`[${text.replace(/\}\s*;\s*\{/g, '},{')}]`);
  const calls = [value].flat().map(objectCall);
  return calls.includes(undefined) ? [] : (calls as readonly ToolCall[]);
}

function objectCall(value: unknown): ToolCall | undefined {
  if (!isObject(value)) return undefined;
  const { name, arguments: given, parameters } = value;
  if (typeof name !== 'string' || name === '') return undefined;
  const wanted = given ?? parameters ?? {};
  return {
    name,
    arguments: typeof wanted === 'string' ? wanted : writeJson(wanted),
  };
}

function xmlCall(name: string, text: string, texts: readonly string[]): ToolCall {
  const given = [...text.matchAll(/<parameter=([^>]+)>\n?([^]*?)\n?<\/parameter>/g)];
  const values = given.map(([, key, value]) => [
    key,
    texts.includes(`${name}/${key}`) ? value : (jsonIn(value!) ?? value),
  ]);
  return { name, arguments: writeJson(Object.fromEntries(values)) };
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
