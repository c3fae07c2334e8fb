import { createHash } from 'node:crypto';
import { readdirSync, closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorMessage } from '@switchyard/engine-api/error-message.js';

/** Wire types of protobuf. */
const VARINT = 0;
const LENGTH_DELIMITED = 2;
/** Length in bytes of the values of fixed size, by wire type. */
const FIXED: ReadonlyMap<number, number> = new Map([
  [1, 8],
  [5, 4],
]);
const LONGEST_VARINT = 10;

/** Field of ModelProto. */
const METADATA = 14;

/** Fields of StringStringEntryProto. */
const ENTRY = { key: 1, value: 2 };

/**
 * Longer than any entry that names a model; some models carry whole
 * vocabularies beside them.
 */
const LONGEST_ENTRY = 4096;

/** An .onnx file, read field by field: weights are skipped, not read. */
class OnnxFile implements Disposable {
  readonly #descriptor: number;
  readonly #size: number;

  constructor(private readonly path: string) {
    this.#descriptor = openSync(path, 'r');
    this.#size = fstatSync(this.#descriptor).size;
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  metadata(): ReadonlyMap<string, string> {
    if (this.#size === 0) throw new Error(`${this.path} is empty.`);
    const entries = new Map<string, string>();
    for (const field of this.#fields(0, this.#size)) {
      if (field.number !== METADATA || field.end - field.start > LONGEST_ENTRY) continue;
      const parts = [...this.#fields(field.start, field.end)];
      const textOf = (wanted: number): string => {
        const part = parts.find(({ number }) => number === wanted);
        return part ? this.#read(part.start, part.end - part.start).toString('utf8') : '';
      };
      entries.set(textOf(ENTRY.key), textOf(ENTRY.value));
    }
    return entries;
  }

  *#fields(start: number, end: number) {
    for (let at = start; at < end;) {
      const field = this.#field(at);
      if (field.end > end) {
        throw new Error(
          `${this.path} is cut off: it has ${this.#size} bytes and needs at least ${field.end}.`,
        );
      }
      yield field;
      at = field.end;
    }
  }

  /** A field of a protobuf message: its content lies from `start` to before `end`. */
  #field(at: number) {
    const { value: tag, next: start } = this.#varint(at);
    const number = Math.floor(tag / 8);
    const wireType = tag % 8;
    const fixed = FIXED.get(wireType);
    if (number > 0 && fixed !== undefined) return { number, start, end: start + fixed };
    if (number === 0 || (wireType !== VARINT && wireType !== LENGTH_DELIMITED))
      throw this.#damaged(start);
    const { value, next } = this.#varint(start);
    return wireType === VARINT
      ? { number, start, end: next }
      : { number, start: next, end: next + value };
  }

  /** Reads a protobuf varint by sums: shifts would overflow at 2 GiB. */
  #varint(start: number): { value: number; next: number } {
    const bytes = this.#read(start, LONGEST_VARINT);
    let value = 0;
    for (const [i, byte] of bytes.entries()) {
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return { value, next: start + i + 1 };
    }
    throw bytes.length === LONGEST_VARINT
      ? this.#damaged(start)
      : new Error(`${this.path} is cut off after ${this.#size} bytes.`);
  }

  #read(start: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(this.#descriptor, bytes, 0, length, start));
  }

  #damaged(at: number): Error {
    return new Error(`${this.path} is no ONNX file, or damaged at byte ${at}.`);
  }
}

/**
 * What exporters say a model is.
 * @throws Error that names a file that is cut off or no ONNX file: the library may end
 *   the process over it
 */
export function readOnnxMetadata(path: string): ReadonlyMap<string, string> {
  using file = new OnnxFile(path);
  return file.metadata();
}

/** Folder made beside a model once: what sherpa-onnx reads, of what others publish. */
export const PREPARED = '.sherpa-onnx';

/** What lies in the folder of one model. */
export class ModelFolder {
  private constructor(
    readonly path: string,
    private readonly names: readonly string[],
    private readonly precision: 'int8' | 'float32',
  ) {}

  /** @throws Error that names the folder. */
  static open(path: string, precision: ModelFolder['precision']): ModelFolder {
    try {
      return new ModelFolder(path, readdirSync(path).sort(), precision);
    } catch (cause) {
      const reason = errorMessage(cause);
      throw new Error(
        `options.modelDir '${path}' cannot be read (${reason}). Put the files of one sherpa-onnx model there.`,
        { cause },
      );
    }
  }

  /** Path of a file or folder with that name; undefined: there is none. */
  named(...names: readonly string[]): string | undefined {
    const found = names.find(name => this.names.includes(name));
    return found === undefined ? undefined : join(this.path, found);
  }

  /**
   * The .onnx file whose name contains the word, in the precision that was asked for
   * where there are both.
   * @throws as `readOnnxMetadata`
   */
  model(word: string, without?: RegExp): string | undefined {
    const fitting = this.#models.filter(name => name.includes(word) && !without?.test(name));
    const wanted = fitting.find(name => name.includes('int8') === (this.precision === 'int8'));
    const found = wanted ?? fitting[0];
    if (found === undefined) return undefined;
    const path = join(this.path, found);
    readOnnxMetadata(path);
    return path;
  }

  /** `tokens.txt`, or Whisper's `tiny-tokens.txt`. */
  get tokens(): string | undefined {
    const found = this.names.find(name => name.endsWith('tokens.txt'));
    return found === undefined ? undefined : join(this.path, found);
  }

  get listing(): string {
    return this.names.length === 0 ? 'nothing' : this.names.join(', ');
  }

  /** @throws Error that says what is missing, and what is there */
  required(what: string, file: string | undefined): string {
    if (file !== undefined) return file;
    throw new Error(`${what} is missing in '${this.path}'; there: ${this.listing}.`);
  }

  /**
   * Name and fingerprint: names, sizes and both ends of all model files. Weights
   * may be gigabytes.
   */
  async revision(): Promise<string> {
    const hash = createHash('sha256');
    for (const name of this.#weights) hash.update(name).update(await ends(join(this.path, name)));
    return `${basename(this.path)} sha256:${hash.digest('hex').slice(0, 12)}`;
  }

  get #weights(): readonly string[] {
    return this.names.filter(name => /\.(onnx|ort)$/.test(name));
  }

  get #models(): readonly string[] {
    return this.names.filter(name => name.endsWith('.onnx'));
  }
}

const END_BYTES = 65_536;

async function ends(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { size } = await file.stat();
  const from = async (position: number): Promise<Buffer> =>
    (await file.read(Buffer.alloc(END_BYTES), 0, END_BYTES, position)).buffer;
  const tail = Math.max(0, size - END_BYTES);
  return Buffer.concat([Buffer.from(String(size)), await from(0), await from(tail)]);
}
