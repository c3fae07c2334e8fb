import { writeJson } from '@switchyard/engine-api/exact-numbers.js';
import { isObject } from '@switchyard/engine-api/is-object.js';
import { jsonIn } from '@switchyard/engine-api/json-in.js';
import { type ToolForm } from '@switchyard/engine-api/text-backend.port.js';
import { HeldText } from './answer-text.js';

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
export type MarkedForm = Exclude<ToolForm, 'gpt-oss'>;

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
export class ToolCallReader {
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
