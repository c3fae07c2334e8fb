import { heldSuffix } from './answer-text.js';

export interface ToolCall {
  readonly name: string;
  /** JSON, as the caller's SDK wants it. */
  readonly arguments: string;
}

interface ReadText {
  readonly content: string;
  readonly calls: readonly ToolCall[];
}

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';

/**
 * Finds the calls of tools in an answer: JSON objects between `<tool_call>` and
 * `</tool_call>`, the form of Hermes, Qwen and all who were trained on theirs. What looks
 * like one and is none stays text.
 */
export class ToolCallReader {
  #held = '';
  #inside = false;

  take(text: string): ReadText {
    this.#held += text;
    let content = '';
    const calls: ToolCall[] = [];
    for (;;) {
      const mark = this.#inside ? CLOSE : OPEN;
      const at = this.#held.indexOf(mark);
      if (at < 0) break;
      const before = this.#held.slice(0, at);
      this.#held = this.#held.slice(at + mark.length);
      if (!this.#inside) content += before;
      else {
        const call = callIn(before);
        if (call) calls.push(call);
        else content += OPEN + before + CLOSE;
      }
      this.#inside = !this.#inside;
    }
    return { content: content + this.#showable(), calls };
  }

  /**
   * The answer has ended: an unfinished call is text, unless it is whole but for its end.
   */
  flush(): ReadText {
    const rest = this.#held;
    this.#held = '';
    if (!this.#inside) return { content: rest, calls: [] };
    const call = callIn(rest);
    return call ? { content: '', calls: [call] } : { content: OPEN + rest, calls: [] };
  }

  #showable(): string {
    if (this.#inside) return '';
    const length = this.#held.length - heldSuffix(this.#held, [OPEN]);
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    return text;
  }
}

function callIn(text: string): ToolCall | undefined {
  try {
    const {
      name,
      arguments: given,
      parameters,
    } = JSON.parse(text) as Record<string, unknown>;
    if (typeof name !== 'string' || name === '') return undefined;
    const wanted = given ?? parameters ?? {};
    return {
      name,
      arguments: typeof wanted === 'string' ? wanted : JSON.stringify(wanted),
    };
  } catch {
    return undefined;
  }
}
