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
  readonly bytes: Promise<Buffer>;
}

/** Positional reads of the input file: many lines at the same time, in any order; besides one window of it none is kept. */
export class InputLines {
  #window: Window | undefined;

  private constructor(private readonly file: FileHandle) {}

  static async open(path: string): Promise<InputLines> {
    return new InputLines(await open(path, 'r'));
  }

  /** @throws InputDamaged */
  async read({ offset, length }: PlanEntry): Promise<Buffer> {
    const { from, bytes } = this.#covering(offset, offset + length);
    const line = (await bytes).subarray(offset - from, offset - from + length);
    if (line.length === length) return line;
    throw new InputDamaged(`The input file ends before byte ${offset + length}.`);
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
    const window = { from, to: upTo, bytes: this.#bytes(from, upTo) };
    // What could not be read is asked for again.
    window.bytes.catch(() => (this.#window = undefined));
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
