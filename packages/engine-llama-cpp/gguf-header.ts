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
    return vocabularySizeIn(descriptor);
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function vocabularySizeIn(descriptor: number): number | undefined {
  let at = 0;
  const bytes = (count: number): Buffer => {
    const read = Buffer.alloc(Math.min(count, 1 << 16));
    if (readSync(descriptor, read, 0, read.length, at) < count)
      throw new RangeError('The header ends too early.');
    at += count;
    return read;
  };
  const integer32 = (): number => bytes(4).readUInt32LE();
  const integer64 = (): number => Number(bytes(8).readBigUInt64LE());
  const skip = (type: number): void => {
    if (type === ARRAY) return skipArray();
    const width = type === STRING ? integer64() : widthOf(type);
    at += width;
  };
  const skipArray = (): void => {
    const type = integer32();
    const length = integer64();
    if (type !== STRING && type !== ARRAY) at += length * widthOf(type);
    else for (let left = length; left > 0; left--) skip(type);
  };
  if (bytes(MAGIC.length).toString('latin1') !== MAGIC || integer32() < 2) return undefined;
  integer64(); // tensors
  for (let left = integer64(); left > 0; left--) {
    const key = bytes(integer64()).toString('utf8');
    const type = integer32();
    if (key !== VOCABULARY) skip(type);
    else {
      integer32(); // type of its members
      return integer64();
    }
  }
  return undefined;
}

function widthOf(type: number): number {
  const width = WIDTHS[type];
  if (width === undefined) throw new RangeError(`There is no type ${type}.`);
  return width;
}
