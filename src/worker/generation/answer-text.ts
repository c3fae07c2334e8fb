import { StringDecoder } from 'node:string_decoder';
import { type Drawn } from '@switchyard/engine-api/text-backend.port.js';

/** Text that is held back while the beginning of a mark may be in it. */
export class HeldText {
  constructor(public text = '') {}

  add(text: string): void {
    this.text += text;
  }

  /**
   * Takes what stands before the first of `marks`, and that mark; undefined: none is
   * there whole.
   */
  upTo(marks: readonly string[]) {
    const [first] = marks
      .map(mark => ({ mark, at: this.text.indexOf(mark) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at);
    if (first === undefined) return undefined;
    const before = this.#take(first.at);
    this.#take(first.mark.length);
    return { before, mark: first.mark };
  }

  /** Takes all but an end that may be the beginning of one of `marks`. */
  showable(marks: readonly string[]): string {
    let held = 0;
    for (const mark of marks) {
      const most = Math.min(mark.length - 1, this.text.length);
      for (let length = most; length > held; length--)
        if (this.text.endsWith(mark.slice(0, length))) held = length;
    }
    return this.#take(this.text.length - held);
  }

  rest(): string {
    return this.#take(this.text.length);
  }

  #take(length: number): string {
    const taken = this.text.slice(0, length);
    this.text = this.text.slice(length);
    return taken;
  }
}

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
  /** Text that is decoded and not shown yet. */
  readonly #held = new HeldText();
  /** Characters that were shown. */
  #shown = 0;
  #tokens: PlacedToken[] = [];
  /** The stop string that was found; nothing follows it. */
  stoppedBy: string | undefined;

  constructor(private readonly stop: readonly string[] = []) {}

  /** Takes the next token. @returns the text that can be shown now */
  take(drawn: Drawn): Piece {
    this.#tokens.push({ drawn, offset: this.#shown + this.#held.text.length });
    this.#held.add(this.#decoder.write(drawn.bytes));
    const end = this.#held.upTo(this.stop);
    if (!end) return this.#show(this.#held.showable(this.stop));
    this.stoppedBy = end.mark;
    const last = this.#show(end.before);
    this.#held.rest();
    this.#tokens = [];
    return last;
  }

  /** The answer has ended: what was held is shown, but for half a character. */
  flush(): Piece {
    if (this.stoppedBy !== undefined) return { text: '', tokens: [] };
    return { text: this.#held.rest(), tokens: this.#tokens };
  }

  #show(text: string): Piece {
    this.#shown += text.length;
    const shown = this.#tokens.findIndex(({ offset }) => offset >= this.#shown);
    const tokens = this.#tokens.splice(0, shown < 0 ? this.#tokens.length : shown);
    return { text, tokens };
  }
}
