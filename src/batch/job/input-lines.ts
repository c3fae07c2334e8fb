import { type FileHandle, open } from 'node:fs/promises';
import { type PlanEntry } from '../../core/jobs/plan-entry.js';

/** The copy of the input file is not what its plan says: somebody changed it, or the disk lost it. It is fetched and read anew. */
export class InputDamaged extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InputDamaged';
  }
}

/** Lines of a plan mostly follow each other in the file: one read serves those that do. */
const WINDOW_BYTES = 65_536;

interface Window {
  readonly from: number;
  readonly to: number;
  /** A promise until they are read. */
  bytes: Buffer | Promise<Buffer>;
}

/** Positional reads of the input file: many lines at the same time, in any order; besides one window of it none is kept. */
export class InputLines {
  #window: Window | undefined;

  private constructor(private readonly file: FileHandle) {}

  static async open(path: string): Promise<InputLines> {
    return new InputLines(await open(path, 'r'));
  }

  /** At once when it was read ahead. @throws InputDamaged */
  read({ offset, length }: PlanEntry): Buffer | Promise<Buffer> {
    const window = this.#covering(offset, offset + length);
    const at = offset - window.from;
    return Buffer.isBuffer(window.bytes)
      ? lineIn(window.bytes, at, length)
      : window.bytes.then(bytes => lineIn(bytes, at, length));
  }

  close(): Promise<void> {
    return this.file.close();
  }

  /** Long lines get a window of their own, which nobody keeps. */
  #covering(from: number, to: number): Window {
    const known = this.#window;
    if (known && known.from <= from && to <= known.to) return known;
    if (to - from >= WINDOW_BYTES) return { from, to, bytes: this.#bytes(from, to) };
    const upTo = from + WINDOW_BYTES;
    const reading = this.#bytes(from, upTo);
    const window: Window = { from, to: upTo, bytes: reading };
    reading.then(
      bytes => (window.bytes = bytes),
      // What could not be read is asked for again.
      () => (this.#window = undefined),
    );
    return (this.#window = window);
  }

  /** Fewer at the end of the file. */
  async #bytes(from: number, to: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(to - from);
    let got = 0;
    while (got < bytes.length) {
      const { bytesRead } = await this.file.read(bytes, got, bytes.length - got, from + got);
      if (bytesRead === 0) break;
      got += bytesRead;
    }
    return bytes.subarray(0, got);
  }
}

function lineIn(bytes: Buffer, at: number, length: number): Buffer {
  const line = bytes.subarray(at, at + length);
  if (line.length === length) return line;
  throw new InputDamaged(`The input file ends ${length - line.length} bytes before the end of a line.`);
}
