import { closeSync, openSync, readSync } from 'node:fs';

const MAGIC = 'GGUF';
const VOCABULARY = 'tokenizer.ggml.tokens';
const STRING = 8;
const ARRAY = 9;
/**
 * Bytes of a value, by its type; of strings and arrays their length stands before them.
 */
const WIDTHS: Readonly<Record<number, number>> = {
  0: 1,
  1: 1,
  2: 2,
  3: 2,
  4: 4,
  5: 4,
  6: 4,
  7: 1,
  10: 8,
  11: 8,
  12: 8,
};

/**
 * Tokens of a model's vocabulary, from the header of its GGUF file (versions 2 and 3),
 * without the native library and before any of its threads. Undefined: no such file,
 * another format, or nothing is said.
 */
export function vocabularySizeOf(file: string): number | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    return new GgufHeader(descriptor).vocabularySize();
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

class GgufHeader {
  #at = 0;

  constructor(private readonly descriptor: number) {}

  vocabularySize(): number | undefined {
    if (this.#bytes(MAGIC.length).toString('latin1') !== MAGIC || this.#integer32() < 2)
      return undefined;
    this.#integer64(); // tensors
    for (let left = this.#integer64(); left > 0; left--) {
      const key = this.#bytes(this.#integer64()).toString('utf8');
      const type = this.#integer32();
      if (key === VOCABULARY) return this.#lengthOfArray();
      this.#skip(type);
    }
    return undefined;
  }

  #lengthOfArray(): number {
    this.#integer32(); // type of its members
    return this.#integer64();
  }

  #skip(type: number): void {
    if (type === ARRAY) return this.#skipArray();
    const width = type === STRING ? this.#integer64() : widthOf(type);
    this.#at += width;
  }

  #skipArray(): void {
    const type = this.#integer32();
    const length = this.#integer64();
    if (type !== STRING && type !== ARRAY) this.#at += length * widthOf(type);
    else for (let left = length; left > 0; left--) this.#skip(type);
  }

  #integer32(): number {
    return this.#bytes(4).readUInt32LE();
  }

  #integer64(): number {
    return Number(this.#bytes(8).readBigUInt64LE());
  }

  #bytes(count: number): Buffer {
    const bytes = Buffer.alloc(Math.min(count, 1 << 16));
    const read = readSync(this.descriptor, bytes, 0, bytes.length, this.#at);
    if (read < count) throw new RangeError('The header ends too early.');
    this.#at += count;
    return bytes;
  }
}

function widthOf(type: number): number {
  const width = WIDTHS[type];
  if (width === undefined) throw new RangeError(`There is no type ${type}.`);
  return width;
}
