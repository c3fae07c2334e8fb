import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

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

/** A field of a message: from `at` to before `end`, its content from `start`. */
export interface OnnxField {
  readonly number: number;
  readonly at: number;
  readonly start: number;
  readonly end: number;
}

/** An .onnx file, read field by field: what is skipped is not read. */
export class OnnxFile {
  /** @param read bytes from a place on; fewer than that many at the end of the file */
  constructor(
    private readonly path: string,
    private readonly size: number,
    private readonly read: (at: number, length: number) => Buffer,
  ) {}

  metadata(): ReadonlyMap<string, string> {
    if (this.size === 0) throw new Error(`${this.path} is empty.`);
    const entries = new Map<string, string>();
    for (const field of this.fields()) {
      if (field.number !== METADATA || field.end - field.start > LONGEST_ENTRY) continue;
      const parts = [...this.fields(field)];
      entries.set(this.texts(parts, ENTRY.key)[0] ?? '', this.texts(parts, ENTRY.value)[0] ?? '');
    }
    return entries;
  }

  /** Fields of the whole file, or of the message in a field. */
  *fields({ start, end } = { start: 0, end: this.size }): Generator<OnnxField> {
    for (let at = start; at < end;) {
      const field = this.#field(at);
      if (field.end > end) {
        throw new Error(
          `${this.path} is cut off: it has ${this.size} bytes and needs at least ${field.end}.`,
        );
      }
      yield field;
      at = field.end;
    }
  }

  /** Texts of all fields with that number. */
  texts(fields: readonly OnnxField[], wanted: number): readonly string[] {
    return fields
      .filter(({ number }) => number === wanted)
      .map(({ start, end }) => this.read(start, end - start).toString('utf8'));
  }

  /**
   * Numbers of a repeated field, packed or not. Those above 2^53, such as negative ones, are
   * rounded.
   */
  numbers(fields: readonly OnnxField[], wanted: number): readonly number[] {
    const numbers: number[] = [];
    for (const { number, start, end } of fields)
      for (let at = start; number === wanted && at < end;) {
        const { value, next } = this.#varint(at);
        numbers.push(value);
        at = next;
      }
    return numbers;
  }

  #field(at: number): OnnxField {
    const { value: tag, next: start } = this.#varint(at);
    const number = Math.floor(tag / 8);
    const wireType = tag % 8;
    const fixed = FIXED.get(wireType);
    if (number > 0 && fixed !== undefined) return { number, at, start, end: start + fixed };
    if (number === 0 || (wireType !== VARINT && wireType !== LENGTH_DELIMITED))
      throw this.#damaged(start);
    const { value, next } = this.#varint(start);
    return wireType === VARINT
      ? { number, at, start, end: next }
      : { number, at, start: next, end: next + value };
  }

  /** Reads a protobuf varint by sums: shifts would overflow at 2 GiB. */
  #varint(start: number): { value: number; next: number } {
    const bytes = this.read(start, LONGEST_VARINT);
    let value = 0;
    for (const [i, byte] of bytes.entries()) {
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return { value, next: start + i + 1 };
    }
    throw bytes.length === LONGEST_VARINT
      ? this.#damaged(start)
      : new Error(`${this.path} is cut off after ${this.size} bytes.`);
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
  const descriptor = openSync(path, 'r');
  try {
    const read = (at: number, length: number): Buffer => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(descriptor, bytes, 0, length, at));
    };
    return new OnnxFile(path, fstatSync(descriptor).size, read).metadata();
  } finally {
    closeSync(descriptor);
  }
}

/** One field: text, bytes and messages are length-delimited. */
export function onnxField(number: number, content: string | Buffer | number): Buffer {
  if (typeof content === 'number') return Buffer.concat([varint(number * 8), varint(content)]);
  const bytes = Buffer.from(content);
  return Buffer.concat([fieldStart(number, bytes.length), bytes]);
}

/** The head of a length-delimited field, whose `length` bytes follow. */
export const fieldStart = (number: number, length: number): Buffer =>
  Buffer.concat([varint(number * 8 + LENGTH_DELIMITED), varint(length)]);

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  return Buffer.from([...bytes, rest]);
}
