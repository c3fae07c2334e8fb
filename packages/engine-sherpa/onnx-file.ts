import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

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
export class OnnxFile implements Disposable {
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
