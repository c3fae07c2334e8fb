import { type ToolForm } from '@switchyard/engine-api/text-backend.port.js';
import { isObject } from '@switchyard/engine-api/is-object.js';
import { heldSuffix } from './answer-text.js';

export interface ToolCall {
  readonly name: string;
  /** JSON, as the caller's SDK wants it. */
  readonly arguments: string;
}

interface Marks {
  readonly open: string;
  /** Absent: the next `open`, or the end of the answer. */
  readonly close?: string;
}

const TAGS: Marks = { open: '<tool_call>', close: '</tool_call>' };
const MARKS: Readonly<Record<Exclude<ToolForm, 'gpt-oss'>, Marks>> = {
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
 * looks like one and is none stays text.
 */
export class ToolCallReader {
  readonly #marks: Marks;
  #held = '';
  /** What opened the call that is read. */
  #opened: string | undefined;
  /** The answer may still be a call without any mark. */
  #mayBeBare: boolean;

  constructor(
    form: ToolForm = 'hermes' /** `TOOL/PARAMETER` whose values are texts. */,
    private readonly texts: readonly string[] = [],
  ) {
    this.#marks = form === 'gpt-oss' ? TAGS : MARKS[form];
    this.#mayBeBare = form === 'llama3';
  }

  take(text: string) {
    this.#held += text;
    if (this.#mayBeBare && !this.#decided()) return { content: '', calls: [] };
    const { open, close = open } = this.#marks;
    let content = '';
    const calls: ToolCall[] = [];
    for (;;) {
      const mark = this.#opened === undefined ? open : close;
      const at = this.#held.indexOf(mark);
      if (at < 0) return { content: content + this.#showable(), calls };
      const before = this.#held.slice(0, at);
      this.#held = this.#held.slice(at + mark.length);
      if (this.#opened === undefined) content += before;
      else content += this.#read(before, calls, this.#marks.close ?? '');
      this.#opened = this.#opened === undefined || mark === open ? open : undefined;
    }
  }

  /**
   * The answer has ended: an unfinished call is text, unless it is whole but for its end.
   */
  flush() {
    const rest = this.#held;
    this.#held = '';
    const calls: ToolCall[] = [];
    return {
      content: this.#opened === undefined ? rest : this.#read(rest, calls, ''),
      calls,
    };
  }

  /** @returns the text that it is, if it is no call */
  #read(text: string, calls: ToolCall[], close: string): string {
    const found = callsIn(text, this.texts);
    calls.push(...found);
    return found.length > 0 ? '' : `${this.#opened}${text}${close}`;
  }

  #decided(): boolean {
    if (NEARLY_BARE.test(this.#held)) return false;
    if (BARE.test(this.#held)) this.#opened = '';
    this.#mayBeBare = false;
    return true;
  }

  #showable(): string {
    if (this.#opened !== undefined) return '';
    const length = this.#held.length - heldSuffix(this.#held, [this.#marks.open]);
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return text;
  }
}

/** Calls in what stands between marks, in any of the forms; none: it is a text. */
function callsIn(text: string, texts: readonly string[]): readonly ToolCall[] {
  const xml = /^\s*<function=([^>\s]+)>([^]*)<\/function>\s*$/.exec(text);
  if (xml) return [xmlCall(xml[1]!, xml[2]!, texts)];
  const named =
    /^\s*([\w.-]+)\s*(?:\[CALL_ID\]\s*\w*\s*)?(?:\[ARGS\])?\s*(\{[^]*\})\s*$/.exec(text);
  if (named)
    return jsonOf(named[2]!) === undefined
      ? []
      : [{ name: named[1]!, arguments: named[2]! }];
  // Several of Llama 3 stand behind each other.
  const value = jsonOf(text) ?? jsonOf(`[${text.replace(/\}\s*;\s*\{/g, '},{')}]`);
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
    arguments: typeof wanted === 'string' ? wanted : JSON.stringify(wanted),
  };
}

function xmlCall(name: string, text: string, texts: readonly string[]): ToolCall {
  const given = [...text.matchAll(/<parameter=([^>]+)>\n?([^]*?)\n?<\/parameter>/g)];
  const values = given.map(([, key, value]) => [
    key,
    texts.includes(`${name}/${key}`) ? value : (jsonOf(value!) ?? value),
  ]);
  return { name, arguments: JSON.stringify(Object.fromEntries(values)) };
}

/** Undefined: it is none. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
