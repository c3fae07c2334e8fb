import { StringDecoder } from 'node:string_decoder';

/**
 * A process that never ends its line would grow the gateway's memory; longer lines are
 * cut into pieces of this size.
 */
const MAX_LINE_CHARS = 65_536;

/** Cuts a byte stream into lines. Empty lines are dropped. */
export class LogLineSplitter {
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

/** Bytes that may come at once, and that are admitted in a second for ever. */
const BURST_BYTES = 262_144;

const BYTES_PER_S = 32_768;

const EXCESS = `it writes more than ${BYTES_PER_S} bytes of log a second`;

/**
 * A bound for the output of programs that are not ours: a flood is read, so that its
 * writer does not freeze, and dropped before it is split into lines. A flood is reported
 * when it begins, and with its bytes when it is over.
 */
export class OutputBound {
  #left = BURST_BYTES;
  #atMs: number;
  #dropped = 0;

  constructor(
    private readonly onExcess: (line: string) => void,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.#atMs = nowMs();
  }

  /** @returns false when the limit per second is used up, so the caller drops these bytes */
  admits(bytes: number): boolean {
    this.#refill();
    if (bytes <= this.#left) {
      this.#left -= bytes;
      return true;
    }
    if (this.#dropped === 0) this.onExcess(`warning: ${EXCESS}: the rest is dropped`);
    this.#dropped += bytes;
    return false;
  }

  /** A message while output is being dropped; undefined: none is. */
  get problem(): string | undefined {
    this.#refill();
    return this.#dropped === 0 ? undefined : `${EXCESS}: ${this.#dropped} bytes were dropped`;
  }

  /** Reports how many bytes were dropped, if any, and starts counting anew. */
  end(): void {
    if (this.#dropped > 0)
      this.onExcess(`warning: ${this.#dropped} bytes of its output were dropped`);
    this.#dropped = 0;
  }

  #refill(): void {
    const nowMs = this.nowMs();
    this.#left = Math.min(BURST_BYTES, this.#left + ((nowMs - this.#atMs) * BYTES_PER_S) / 1000);
    this.#atMs = nowMs;
    if (this.#left === BURST_BYTES) this.end();
  }
}
