import { StringDecoder } from 'node:string_decoder';

/** A process that never ends its line would grow the gateway's memory; longer lines are cut into pieces of this size. */
const MAX_LINE_CHARS = 65_536;

/** Cuts a byte stream into lines. Empty lines are dropped. */
export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';

  constructor(private readonly onLine: (line: string) => void) {}

  push(chunk: Buffer): void {
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#emit(line);
    while (this.#rest.length >= MAX_LINE_CHARS) {
      this.#emit(this.#rest.slice(0, MAX_LINE_CHARS));
      this.#rest = this.#rest.slice(MAX_LINE_CHARS);
    }
  }

  /** The last line may lack its newline. */
  end(): void {
    this.#emit(this.#rest + this.#decoder.end());
    this.#rest = '';
  }

  #emit(line: string): void {
    const text = line.trimEnd();
    if (text !== '') this.onLine(text);
  }
}

/** The newest `size` lines. */
export class LastLines {
  readonly #lines: string[] = [];

  constructor(private readonly size: number) {}

  add(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > this.size) this.#lines.shift();
  }

  get lines(): readonly string[] {
    return [...this.#lines];
  }
}
