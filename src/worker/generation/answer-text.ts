import { StringDecoder } from 'node:string_decoder';
import { type Drawn } from '@switchyard/engine-api/text-backend.port.js';

/**
 * Characters at the end of `text` that may be the beginning of one of `marks`; 0: none.
 */
export function heldSuffix(text: string, marks: readonly string[]): number {
  let held = 0;
  for (const mark of marks) {
    for (let length = Math.min(mark.length - 1, text.length); length > held; length--) {
      if (text.endsWith(mark.slice(0, length))) held = length;
    }
  }
  return held;
}

/** The first of `marks` in `text`, and where; undefined: none is there whole. */
const firstMark = (text: string, marks: readonly string[]) =>
  marks
    .map(mark => ({ mark, at: text.indexOf(mark) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)[0];

/**
 * A drawn token and where its text begins, in characters from the start of the answer.
 */
export interface PlacedToken {
  readonly drawn: Drawn;
  readonly offset: number;
}

/** A part of an answer that can be shown, and the tokens whose text begins in it. */
interface Piece {
  readonly text: string;
  readonly tokens: readonly PlacedToken[];
}

/**
 * Tokens on their way to text. Bytes wait until they are whole characters, characters
 * until they cannot be the beginning of a stop string any more; that string itself is
 * never shown. All before it is told exactly once, in order.
 */
export class AnswerText {
  readonly #decoder = new StringDecoder('utf8');
  /** Decoded and not shown. */
  #held = '';
  /** Characters that were shown. */
  #shown = 0;
  #tokens: PlacedToken[] = [];
  /** The stop string that is complete: nothing more is to come. */
  stoppedBy: string | undefined;

  constructor(private readonly stop: readonly string[] = []) {}

  /** What the next token makes showable. */
  take(drawn: Drawn): Piece {
    this.#tokens.push({ drawn, offset: this.#shown + this.#held.length });
    this.#held += this.#decoder.write(drawn.bytes);
    const end = firstMark(this.#held, this.stop);
    if (!end) return this.#show(this.#held.length - heldSuffix(this.#held, this.stop));
    this.stoppedBy = end.mark;
    const last = this.#show(end.at);
    this.#held = '';
    this.#tokens = [];
    return last;
  }

  /**
   * The answer has ended: what was held is shown, half a character as its replacement.
   */
  flush(): Piece {
    if (this.stoppedBy !== undefined) return { text: '', tokens: [] };
    this.#held += this.#decoder.end();
    const text = this.#held;
    const tokens = this.#tokens;
    this.#shown += text.length;
    this.#held = '';
    this.#tokens = [];
    return { text, tokens };
  }

  #show(length: number): Piece {
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    this.#shown += length;
    const shown = this.#tokens.findIndex(({ offset }) => offset >= this.#shown);
    const tokens = this.#tokens.splice(0, shown < 0 ? this.#tokens.length : shown);
    return { text, tokens };
  }
}
