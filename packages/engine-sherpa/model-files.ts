import { createHash } from 'node:crypto';
import { readdirSync, closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errorMessage } from '@switchyard/engine-api/error-message.js';

/** Where a message lies in the file: from `start` to before `end`. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

interface ProtobufField extends ByteRange {
  readonly number: number;
  /** Of a number; 0 for what has a length. */
  readonly value: number;
}

const PAGE_BYTES = 65_536;

/** Wire types of protobuf. */
const VARINT = 0;

const FIXED_64 = 1;

const LENGTH_DELIMITED = 2;

const FIXED_32 = 5;

/** Field of ModelProto. */
const METADATA = 14;

/** Fields of StringStringEntryProto. */
const ENTRY = { key: 1, value: 2 };

/**
 * Longer than any entry that names a model; some models carry whole
 * vocabularies beside them.
 */
const LONGEST_ENTRY = 4096;

/**
 * An .onnx file, read field by field: weights are skipped, not read. Methods throw an
 * Error that names the file when it is no ONNX file or is cut off.
 */
class OnnxFile implements Disposable {
  readonly size: number;
  readonly #descriptor: number;
  readonly #page = Buffer.alloc(PAGE_BYTES);
  #pageStart = 0;
  #pageLength = 0;

  constructor(readonly path: string) {
    this.#descriptor = openSync(path, 'r');
    this.size = fstatSync(this.#descriptor).size;
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  /** What exporters say a model is. */
  metadata(): ReadonlyMap<string, string> {
    const entries = new Map<string, string>();
    for (const field of this.#fields(this.#whole)) {
      if (field.number !== METADATA || field.end - field.start > LONGEST_ENTRY) continue;
      const { key, value } = this.#entry(field);
      entries.set(key, value);
    }
    return entries;
  }

  get #whole(): ByteRange {
    if (this.size === 0) throw new Error(`${this.path} is empty.`);
    return { start: 0, end: this.size };
  }

  #children(range: ByteRange, number: number): ProtobufField[] {
    return [...this.#fields(range)].filter(field => field.number === number);
  }

  #entry(range: ByteRange): { key: string; value: string } {
    const [key] = this.#children(range, ENTRY.key);
    const [value] = this.#children(range, ENTRY.value);
    return { key: key ? this.#text(key) : '', value: value ? this.#text(value) : '' };
  }

  *#fields({ start, end }: ByteRange): Generator<ProtobufField> {
    for (let at = start; at < end;) {
      const tag = this.#varint(at);
      const field = this.#field(tag.value, tag.next);
      if (field.end > end) {
        throw new Error(
          `${this.path} is cut off: it has ${this.size} bytes and needs at least ${field.end}.`,
        );
      }
      yield field;
      at = field.end;
    }
  }

  #field(tag: number, start: number): ProtobufField {
    const number = Math.floor(tag / 8);
    const wireType = tag % 8;
    if (number > 0 && (wireType === VARINT || wireType === LENGTH_DELIMITED)) {
      const { value, next } = this.#varint(start);
      return wireType === VARINT
        ? { number, value, start, end: next }
        : { number, value: 0, start: next, end: next + value };
    }
    if (number > 0 && wireType === FIXED_64)
      return { number, value: 0, start, end: start + 8 };
    if (number > 0 && wireType === FIXED_32)
      return { number, value: 0, start, end: start + 4 };
    throw new Error(`${this.path} is no ONNX file, or damaged at byte ${start}.`);
  }

  /** Sums, not shifts: lengths pass 2 GB. */
  #varint(start: number): { value: number; next: number } {
    let value = 0;
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte(start + i);
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return { value, next: start + i + 1 };
    }
    throw new Error(`${this.path} is no ONNX file, or damaged at byte ${start}.`);
  }

  #text({ start, end }: ByteRange): string {
    return Buffer.from(
      Array.from({ length: end - start }, (_, i) => this.#byte(start + i)),
    ).toString('utf8');
  }

  #byte(at: number): number {
    if (at < this.#pageStart || at >= this.#pageStart + this.#pageLength) {
      this.#pageStart = at;
      this.#pageLength = readSync(this.#descriptor, this.#page, 0, PAGE_BYTES, at);
      if (this.#pageLength === 0)
        throw new Error(`${this.path} is cut off after ${this.size} bytes.`);
    }
    return this.#page[at - this.#pageStart]!;
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

export type Precision = 'int8' | 'float32';

/** What lies in the folder of one model. */
export class ModelFolder {
  private constructor(
    readonly path: string,
    private readonly names: readonly string[],
    private readonly precision: Precision,
  ) {}

  /** @throws Error that names the folder. */
  static open(path: string, precision: Precision): ModelFolder {
    try {
      return new ModelFolder(path, readdirSync(path).sort(), precision);
    } catch (cause) {
      const reason = errorMessage(cause);
      throw new Error(
        `options.modelDir '${path}' cannot be read (${reason}). Put the files of one sherpa-onnx model there.`,
        {
          cause,
        },
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
    const fitting = this.#models.filter(
      name => name.includes(word) && !without?.test(name),
    );
    const wanted = fitting.find(
      name => name.includes('int8') === (this.precision === 'int8'),
    );
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

  /**
   * Name and fingerprint: names, sizes and both ends of all model files. Weights
   * may be gigabytes.
   */
  async revision(): Promise<string> {
    const hash = createHash('sha256');
    for (const name of this.#models)
      hash.update(name).update(await ends(join(this.path, name)));
    return `${basename(this.path)} sha256:${hash.digest('hex').slice(0, 12)}`;
  }

  get #models(): readonly string[] {
    return this.names.filter(name => name.endsWith('.onnx'));
  }
}

const END_BYTES = 65_536;

async function ends(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const head = await file.read(Buffer.alloc(END_BYTES), 0, END_BYTES, 0);
    const tail = await file.read(
      Buffer.alloc(END_BYTES),
      0,
      END_BYTES,
      Math.max(0, size - END_BYTES),
    );
    return Buffer.concat([Buffer.from(String(size)), head.buffer, tail.buffer]);
  } finally {
    await file.close();
  }
}
