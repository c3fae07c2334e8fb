const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

export interface FileLine {
  /** Byte position of the line in the file, a byte order mark left out. */
  readonly offset: number;
  /** Bytes without the line break, LF or CRLF. */
  readonly length: number;
  /** Undefined: longer than the limit, and not kept. */
  readonly bytes: Buffer | undefined;
  /** A line break ends it; only the last line may have none. */
  readonly hasBreak: boolean;
}

/**
 * Cuts bytes into lines as they come. Holds one line at most; of a line over the limit,
 * nothing. A last line without a line break is a line; the nothing after a last line
 * break is none.
 */
export class LineSplitter {
  #parts: Buffer[] = [];
  /** Bytes since the last line break. */
  #held = 0;
  /** Position in the file of the first of them. */
  #offset = 0;

  /**
   * @param maxBytes of a line, its break left out; Infinity for files of our own making.
   */
  constructor(private readonly maxBytes: number) {}

  *push(chunk: Uint8Array): Generator<FileLine> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      this.#hold(bytes.subarray(from, at));
      yield this.#line(true);
      from = at + 1;
    }
    this.#hold(bytes.subarray(from));
  }

  *end(): Generator<FileLine> {
    if (this.#held > 0) yield this.#line(false);
  }

  #hold(part: Buffer) {
    if (part.length === 0) return;
    this.#held += part.length;
    // CR and mark are no part of the line: room for them, so that the limit is exact.
    if (this.#held > this.maxBytes + BOM.length + 1) this.#parts = [];
    else this.#parts.push(part);
  }

  #line(hasBreak: boolean): FileLine {
    const [held, offset] = [this.#held, this.#offset];
    const kept = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#held = 0;
    this.#offset += held + Number(hasBreak);
    if (kept.length < held) return { offset, length: held, bytes: undefined, hasBreak };
    const start = offset === 0 && kept.subarray(0, 3).equals(BOM) ? BOM.length : 0;
    const end = kept.at(-1) === RETURN ? kept.length - 1 : kept.length;
    const length = Math.max(0, end - start);
    const bytes = length > this.maxBytes ? undefined : kept.subarray(start, start + length);
    return { offset: offset + start, length, bytes, hasBreak };
  }
}

/** The lines of a whole source. */
export async function* linesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<FileLine> {
  const splitter = new LineSplitter(Infinity);
  for await (const chunk of source) yield* splitter.push(chunk);
  yield* splitter.end();
}
