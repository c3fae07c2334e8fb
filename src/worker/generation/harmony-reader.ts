import { type AnswerReader, type AnswerPart, joined, NOTHING } from './answer-reader.js';
import { heldSuffix } from './answer-text.js';

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
