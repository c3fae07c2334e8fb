import { type FileHandle, open } from 'node:fs/promises';
import { valueSpans } from '../../core/jobs/line-span.js';
import { type PlanEntry } from '../../core/jobs/plan-entry.js';

/**
 * The local copy of the input file does not match its plan. It must be fetched
 * and ingested again.
 */
export class InputDamaged extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'InputDamaged';
  }
}

/** Lines of a plan are mostly adjacent in the file: one read serves several. */
const WINDOW_BYTES = 65_536;

interface Window {
  readonly from: number;
  readonly to: number;
  /** A promise until the read ends. */
  bytes: Buffer | Promise<Buffer>;
}

/**
 * Positional reads of the input file, concurrent and in any order. One window of
 * it is cached.
 */
export class InputLines {
  #window: Window | undefined;

  private constructor(private readonly file: FileHandle) {}

  static async open(path: string): Promise<InputLines> {
    return new InputLines(await open(path, 'r'));
  }

  /** @returns a promise unless the line is in the cached window. @throws InputDamaged */
  read({ offset, length }: PlanEntry): Buffer | Promise<Buffer> {
    const window = this.#covering(offset, offset + length);
    const at = offset - window.from;
    return Buffer.isBuffer(window.bytes)
      ? lineIn(window.bytes, at, length)
      : window.bytes.then(bytes => lineIn(bytes, at, length));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.file.close();
  }

  /** Long lines get an uncached window. */
  #covering(from: number, to: number): Window {
    const known = this.#window;
    if (known && known.from <= from && to <= known.to) return known;
    if (to - from >= WINDOW_BYTES) return { from, to, bytes: this.#bytes(from, to) };
    const upTo = from + WINDOW_BYTES;
    const reading = this.#bytes(from, upTo);
    const window: Window = { from, to: upTo, bytes: reading };
    reading.then(
      bytes => (window.bytes = bytes),
      // After a failed read, the next one tries again.
      () => (this.#window = undefined),
    );
    return (this.#window = window);
  }

  /** @returns fewer bytes at the end of the file */
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
  throw new InputDamaged(
    `The input file ends ${length - line.length} bytes before the end of a line.`,
  );
}

/** Parts of an input line, as bytes of the line. */
export interface LineParts {
  /** JSON text, unchanged. */
  readonly customIdJson: string;
  readonly body: Buffer;
}

/** @param line a line that ingestion found valid. @throws InputDamaged */
export function lineParts(line: Buffer): LineParts {
  const { custom_id: id, body } = valueSpans(line, ['custom_id', 'body']);
  if (!id || !body) throw new InputDamaged(`The input line has no ${id ? 'body' : 'custom_id'}.`);
  return {
    customIdJson: line.toString('utf8', id.start, id.end),
    body: line.subarray(body.start, body.end),
  };
}
